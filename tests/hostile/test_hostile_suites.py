"""Suites and answers made to do harm: each ends soon, in little memory, and says what is wrong.

What is merely broken is in tests/broken. `make full` makes the large ones as large as
strangers might.
"""

import io
import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from fuzzing import within
from level import LEVEL
from proctor.cli.main import _run
from proctor.scorers.text.blanks import Blanks
from proctor.scorers.text.comparisons import Matches
from proctor.scorers.text.keywords import Keywords

pytestmark = pytest.mark.scaled
LARGE = LEVEL.ci
SECONDS = 120 if LARGE else 60
MEMORY = (2000 if LARGE else 700) * 2**20
SECRET = "the-secret-outside"

Make = Callable[[Path], list[str]]


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for scorer in (Keywords, Matches, Blanks):
        monkeypatch.setattr(scorer, "time_limit", 1.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MEMORY


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder for a suite, with something beside it that is none of its business."""
    inner = tmp_path / "suite"
    inner.mkdir()
    for name in ("secret.txt", "secret.py", "secret.yaml", "secret.png", "secret.jsonl"):
        (tmp_path / name).write_text(f"ask: {SECRET}\ncriteria: {SECRET}\n")
    (tmp_path / "secret.jsonl").write_text(json.dumps({"ask": SECRET, "criteria": SECRET}) + "\n")
    monkeypatch.chdir(inner)
    return inner


def proctor(*args: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), within(SECONDS):
        code = _run(list(args))
    return code, out.getvalue() + err.getvalue()


def check(text: str | bytes, name: str = "suite.yaml") -> Make:
    def make(folder: Path) -> list[str]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return ["check", name]

    return make


def suite(criteria: str = "a", **keys: str) -> str:
    more = "".join(f"    {key}: {value}\n" for key, value in keys.items())
    return f"cases:\n  - ask: b\n{more}    criteria: {criteria}\n"


def case(**keys: Any) -> str:
    return json.dumps({"cases": [{"id": "x", "ask": "b", "criteria": "a", **keys}]})


def infibench(grading: str, **keys: str) -> Make:
    more = "".join(f"{key}: {value}\n" for key, value in keys.items())
    prompt = "" if "prompt_path" in keys else "prompt_path: p.txt\n"
    text = f"id: a\n{prompt}type: t\nlang: python\n{more}grading:\n  {grading}\n"

    def make(folder: Path) -> list[str]:
        (folder / "p.txt").write_text("p")
        return check(text, "case.yaml")(folder)

    return make


def taskweaver(**keys: str) -> Make:
    text = "version: 0.1\napp_dir: project\n" + "".join(f"{k}: {v}\n" for k, v in keys.items())
    text += "eval_query:\n  - user_query: q\n    scoring_points: [{score_point: s, weight: 1}]\n"

    def make(folder: Path) -> list[str]:
        (folder / "project").mkdir()
        return check(text, "case.yaml")(folder)

    return make


def linked(text: str, link: str, target: str) -> Make:
    def make(folder: Path) -> list[str]:
        (folder / link).symlink_to(folder.parent / target if not target.startswith("/") else target)
        return check(text)(folder)

    return make


def with_pipe(make: Make, name: str) -> Make:
    def made(folder: Path) -> list[str]:
        args = make(folder)
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
        return args

    return made


def answered(rows: str | bytes, criteria: str = "a", name: str = "a.jsonl") -> Make:
    def make(folder: Path) -> list[str]:
        check(suite(criteria, id="x"))(folder)
        (folder / name).write_bytes(rows.encode() if isinstance(rows, str) else rows)
        return ["run", "suite.yaml", "--answers", name]

    return make


def row(output: str = "a", **more: Any) -> str:
    return json.dumps({"case": "x", "output": output, **more}) + "\n"


def merge_bomb() -> str:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], y{n}: 1}}" for n in range(1, 40)]
    return "\n".join(lines) + "\n"


def many_folders(folder: Path) -> list[str]:
    for n in range(200):
        place = folder / "/".join("abcdefgh"[: n % 8 + 1]) / str(n)
        place.mkdir(parents=True, exist_ok=True)
    return check("cases: ['" + "**/" * 12 + "*.yaml']\n")(folder)


def many_rows(folder: Path) -> list[str]:
    count = 30_000 if LARGE else 2_000
    with (folder / "suite.jsonl").open("w") as file:
        for n in range(count):
            file.write(f'{{"id": "{n}", "ask": "b", "criteria": "a"}}\n')
    return ["check", "suite.jsonl"]


def sparse(folder: Path) -> list[str]:
    with (folder / "suite.yaml").open("wb") as file:
        file.truncate(2**40)
    return ["check", "suite.yaml"]


def sparse_rows(folder: Path) -> list[str]:
    make = answered("")(folder)
    with (folder / "a.jsonl").open("wb") as file:
        file.truncate(2**40)
    return make


def upwards_out(folder: Path) -> list[str]:
    rows = [{"id": "../../x", "ask": "b", "criteria": "a"}]
    (folder / "suite.json").write_text(json.dumps({"name": "../../y", "cases": rows}))
    (folder / "a.jsonl").write_text(json.dumps({"case": "../../x", "output": "a"}) + "\n")
    out = ["--layout", "infibench", "--out", "out"]
    return ["run", "suite.json", "--answers", "a.jsonl", *out]


def converted_upwards(folder: Path) -> list[str]:
    check(case(id="../../x").replace('{"cases"', '{"name": "../../y", "cases"'), "s.json")(folder)
    return ["convert", "s.json", "--to", "native", "--out", "out"]


def askbench(**changes: str) -> Make:
    keys = {"tasks_config_path": ".", "data_dir": ".", "save_dir": "results", **changes}
    base = "[model]\napi_type = q\napi_url = http://127.0.0.1:9\n[tasks]\nenabled = ask_mind\n"
    base += (
        f"tasks_config_path = {keys['tasks_config_path']}\n[path]\nsave_dir = {keys['save_dir']}\n"
    )

    def make(folder: Path) -> list[str]:
        task = f"[evalset]\nevalsetname = ask_mind\n[path]\ndata_dir = {keys['data_dir']}\n"
        (folder / "ask_mind.ini").write_text(task)
        return check(base, "base.ini")(folder)

    return make


ROWS: list[tuple[str, Make, int, str]] = [
    # Values that grow, or go deep.
    ("merge_keys", check(merge_bomb()), 2, "suite.yaml:2"),
    ("merge_of_itself", check("a: &a\n  <<: *a\n  x: 1\n"), 2, "suite.yaml:2"),
    ("deep_mappings", check("cases: " + "{a: " * 5000), 2, "nested more than 60"),
    ("deep_lists_in_lines", check("- " * 20_000), 2, "suite.yaml:1"),
    ("deep_keys", check("? " * 20_000), 2, "suite.yaml:1"),
    ("deep_indents", check("\n".join(" " * n + "a:" for n in range(900))), 2, "nested more than 60"),
    ("many_documents", check("---\n" * 100_000), 2, "suite.yaml:"),
    ("many_anchors", check("".join(f"a{n}: &a{n} b\n" for n in range(5000))), 2, "suite.yaml:"),
    ("comment_of_2_mb", check("#" * 2_000_000 + "\n" + suite()), 2, "suite.yaml:1:1"),
    ("deep_json", check('{"cases": ' + "[" * 100_000, "s.json"), 2, "s.json"),
    ("wide_json", check('{"cases": [' + "[]," * 20_000 + "[]]}", "s.json"), 2, "s.json"),
    ("file_of_a_tebibyte", sparse, 2, "suite.yaml"),
    ("many_rows", many_rows, 0, ""),
    ("patterns_of_folders", many_folders, 2, "suite.yaml:1"),
    # Numbers.
    ("weight_of_10000_digits", check(suite(weight="9" * 10_000)), 2, "suite.yaml:3"),
    ("weight_in_hex", check(suite(weight="0x" + "F" * 5000)), 2, "suite.yaml:3"),
    ("weight_of_1e400", check(suite(weight="1e400")), 2, "suite.yaml:3"),
    ("weight_denormal", check(suite(weight="5e-324")), 0, ""),
    ("limits_beyond_a_float", check(suite(max_points="1e308", min_points="-1e308")), 0, ""),
    ("json_number_of_5000_digits", check('{"cases": ' + "1" * 5000 + "}", "s.json"), 2, "s.json"),
    ("a_time_as_id", check(suite(id="2026-11-15T00:00:00Z")), 0, ""),
    # Texts.
    ("mark_in_the_middle", check("cases:\n  - ask: a\ufeffb\n    criteria: \u202ec\n"), 0, ""),
    ("mark_at_the_start", check(b"\xef\xbb\xbf" + suite().encode()), 0, ""),
    ("utf16_json", check(case().encode("utf-16"), "s.json"), 2, "this is UTF-16"),
    ("half_a_pair", check(case(ask="\ud800"), "s.json"), 2, "s.json:1"),
    ("id_with_controls", check(case(id="\x1b[2J\x07\x00x\u202e"), "s.json"), 2, "s.json:1"),
    ("id_of_1_mb", check(case(id="x" * 1_000_000), "s.json"), 2, "s.json"),
    ("ids_that_look_alike", check(json.dumps({"cases": [
        {"id": "\u00e9", "ask": "a", "criteria": "b"}, {"id": "e\u0301", "ask": "a", "criteria": "b"},
    ]}), "s.json"), 0, ""),
    ("keys_twice", check(suite() + "cases: []\n"), 2, "suite.yaml:4:1"),
    ("keys_twice_in_json", check('{"cases": [], "cases": ' + case()[10:-1] + "}", "s.json"), 0, "occurs twice"),
    ("binary_tag", check(suite(ask="!!binary AAAA").replace("  - ask: b\n", "  - id: x\n")), 2, "suite.yaml"),
    ("set_tag", check(suite(tags="!!set {a, b}")), 2, "suite.yaml:3"),
    # Names that are paths.
    ("results_stay_in_their_folder", upwards_out, 0, ""),
    ("converted_into_its_folder", converted_upwards, 0, ""),
    # Paths out of the suite.
    ("case_upwards", check("cases: [../secret.yaml]\n"), 2, "suite.yaml:1"),
    ("case_by_pattern_upwards", check("cases: ['../*.yaml']\n"), 2, "suite.yaml:1"),
    ("case_linked", linked("cases: [in.yaml]\n", "in.yaml", "secret.yaml"), 2, "suite.yaml:1"),
    ("folder_linked", linked("cases: ['d/*.yaml']\n", "d", ""), 2, "suite.yaml:1"),
    ("rows_linked", linked("cases: [in.jsonl]\n", "in.jsonl", "secret.jsonl"), 2, "suite.yaml:1"),
    ("files_upwards", check(suite(files="[../secret.txt]")), 2, "suite.yaml:3"),
    ("files_named_upwards", check(suite(files="[{file: suite.yaml, name: ../x}]")), 2, "suite.yaml:3"),
    ("files_linked", linked(suite(files="[in.txt]"), "in.txt", "secret.txt"), 2, "suite.yaml:3"),
    ("files_of_the_machine", linked(suite(files="[d]"), "d", "/proc"), 2, "suite.yaml:3"),
    ("image_upwards", check(suite(images="[../secret.png]")), 2, "suite.yaml:3"),
    ("module_upwards", check(suite("{python_check: {module: ../secret.py, function: f}}")), 2, "suite.yaml"),
    ("infibench_module", infibench("customized: {module: ..secret, func: f}"), 2, "case.yaml:6"),
    ("infibench_module_linked", infibench("customized: {module: ../secret.py, func: f}"), 2, "case.yaml:6"),
    ("infibench_prompt", infibench("keywords: [a]", prompt_path="../secret.txt"), 2, "case.yaml"),
    ("infibench_test", infibench("unit_test: {tests: [{path: ../secret.py}]}"), 2, "case.yaml:6"),
    ("infibench_prefix", infibench("unit_test: {tests: [{path: p.txt, prefix_path: ../secret.py}]}"), 2,
     "case.yaml:6"),
    ("infibench_reference", infibench("similarity: [{metric: rouge1, references: [{path: ../secret.txt}]}]"), 2,
     "case.yaml:6"),
    ("taskweaver_data", taskweaver(data_files="[../secret.txt]"), 2, "case.yaml:3"),
    ("taskweaver_data_absolute", taskweaver(data_files="[/etc/passwd]"), 2, "case.yaml:3"),
    ("askbench_config", askbench(tasks_config_path="../../../../../../../../etc"), 2, "base.ini"),
    ("askbench_data", askbench(data_dir="/etc"), 2, ".ini"),
    # Pipes and devices where files are wanted.
    ("pipe_as_rows", with_pipe(check("", "suite.jsonl"), "suite.jsonl"), 2, "suite.jsonl"),
    ("pipe_as_table", with_pipe(check("", "suite.csv"), "suite.csv"), 2, "suite.csv"),
    ("pipe_as_ini", with_pipe(check("", "base.ini"), "base.ini"), 2, "base.ini"),
    ("pipe_as_case", with_pipe(check("cases: [in.yaml]\n"), "in.yaml"), 2, "suite.yaml:1"),
    ("pipe_as_prompt", with_pipe(check(suite().replace("ask: b", "ask_file: in.txt")), "in.txt"), 2, "in.txt"),
    ("pipe_as_file", with_pipe(check(suite(files="[in.txt]")), "in.txt"), 2, "suite.yaml:3"),
    ("pipe_as_image", with_pipe(check(suite(images="[in.png]")), "in.png"), 2, "suite.yaml:3"),
    ("pipe_in_infibench", with_pipe(infibench("keywords: [a]"), "p.txt"), 2, "case.yaml"),
    ("pipe_as_answers", with_pipe(answered(""), "a.jsonl"), 2, "a.jsonl"),
    ("device_as_answers", lambda folder: [*answered("")(folder)[:-1], "/dev/zero"], 2, "/dev/zero"),
    # Patterns and conditions without an end.
    ("keyword_without_end", answered(row("a" * 40 + "!"), "{keywords: [{text: '(a+)+$', regex: true}]}"), 0, ""),
    ("match_without_end", answered(row("a" * 40 + "!"), "{matches: '(a|aa)+$'}"), 0, ""),
    ("conditions_without_end", answered(row(), "{keywords: [a, {text: a, cond: '[x for x in range(10**12)]'}]}"),
     3, "memory limit exceeded"),
    ("condition_of_all_memory", answered(row(), "{keywords: [a, {text: a, cond: \"'a' * 10**12\"}]}"), 3, "memory limit exceeded"),
    ("condition_of_all_digits", answered(row(), "{keywords: [a, {text: a, cond: '9**9**9'}]}"), 3, "memory limit exceeded"),
    ("pattern_of_all_memory", check(suite("{matches: '" + "(?:a{1000}" * 12 + "){1000}" * 12 + "'}")), 0, ""),
    ("pattern_that_goes_deep", check(suite("{matches: '" + "(" * 3000 + ")" * 3000 + "'}")), 2, "suite.yaml"),
    # Answers.
    ("answer_that_is_long", answered(row("x" * (100_000_000 if LARGE else 3_000_000)), "{keywords: [x, y]}"), 0, ""),
    ("answer_with_controls", answered(row("a\x00\x1b[2J\u202e\u2028\ud800")), 0, ""),
    ("answer_in_all_languages", answered(row("\U0001f600\u0301" * 50_000)), 0, ""),
    ("attempt_beyond_an_integer", answered(row(attempt=10**30)), 2, "a.jsonl:1"),
    ("attempt_beyond_all", answered(row(attempt=10**9)), 0, ""),
    ("usage_beyond_a_float", answered('{"case": "x", "output": "a", "usage": {"prompt_tokens": 1e400}}\n'), 0, ""),
    ("rows_of_a_tebibyte", sparse_rows, 2, "a.jsonl:1"),
    ("answers_of_nothing", answered(b"\n" * 3_000_000), 2, "a.jsonl"),
]  # fmt: skip


def test_there_are_enough() -> None:
    assert len(ROWS) >= 50
    assert len({name for name, *_ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(
    ("make", "code", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
@pytest.mark.sampled(30)
def test_harm_is_contained(folder: Path, make: Make, code: int, words: str) -> None:
    before = sorted(folder.parent.iterdir())
    found, said = proctor(*make(folder))
    assert (found, words in said) == (code, True), said[-3000:]
    assert "Traceback" not in said
    assert SECRET not in said
    assert not set(said) & {"\x1b", "\x07", "\x00", "\u202e"}
    assert sorted(folder.parent.iterdir()) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
