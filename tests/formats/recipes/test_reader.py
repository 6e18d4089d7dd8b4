"""Every recipe on rows in its schema: answers on file, right and wrong, by the real command."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from formats.recipes.written_rows import ROWS, Reply
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.suite import Message, ToolCall
from proctor.engine.run.recipes import recipe_names, recipe_path
from proctor.errors import MissingResource, SuiteError, UsageError
from proctor.formats.recipes import rows as recipe_row_files
from proctor.formats.recipes.reader import Recipes
from proctor.formats.recipes.recipe import read_recipe
from proctor.formats.recipes.row_values import UnusableRow, row_values
from proctor.registry import build
from proctor.testing import try_scorer
from proctor.testing.replies import Answer
from proctor.testing.server import FakeServer

PROGRAMS = {"humaneval", "humaneval-plus", "mbpp-plus", "apps", "livecodebench"}


def lines(path: Path, rows: Any) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def path_of(name: str) -> Path:
    path = recipe_path(name)
    assert path is not None
    return path


def suite_of(name: str, data: Path) -> Any:
    return Recipes().read_all(path_of(name), options={"data": str(data)})[0].suite


def rate(proctor: str, name: str, data: Path, replies: tuple[Reply, ...]) -> float:
    ids = [case.id for case in suite_of(name, data).cases]
    said = [
        {"case": case, **({"output": one} if isinstance(one, str) else {"tool_calls": one})}
        for case, one in zip(ids, replies, strict=True)
    ]
    answers = lines(data.with_name("answers.jsonl"), said)
    found: float = json.loads(command(proctor, "run", name, "--data", data, "--answers", answers))[
        "totals"
    ]["rate"]
    return found


def command(program: str, *words: Any) -> str:
    """Run a command with a store of its own, and return what it prints as JSON."""
    folder = Path(words[3]).parent
    done = subprocess.run(
        [program, *map(str, words), "--json", "--store", str(folder / "store.db")],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_recipe_has_rows() -> None:
    assert sorted(ROWS) == list(recipe_names())


@pytest.mark.parametrize(
    "name", [name for name in ROWS if name not in PROGRAMS and name != "simpleqa"]
)
def test_right_and_wrong_answers(name: str, proctor: str, tmp_path: Path) -> None:
    written = ROWS[name]
    data = lines(tmp_path / "rows.jsonl", written.rows)
    assert rate(proctor, name, data, written.right) == 1.0
    assert rate(proctor, name, data, written.wrong) == 0.0


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs(name: str, proctor: str, tmp_path: Path) -> None:
    written = ROWS[name]
    data = lines(tmp_path / "rows.jsonl", written.rows)
    assert rate(proctor, name, data, written.right) == 1.0
    assert rate(proctor, name, data, written.wrong) == 0.0


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        ({"items": [{"name": "tea", "count": 1}], "to": {"name": "Ada"}}, True),
        ({"items": [{"name": "Tea"}], "to": {"name": "Ada", "town": "Rome"}, "notes": []}, True),
        ({"items": [{"name": "milk"}], "to": {"name": "Ada"}}, False),
        ({"items": [{"count": 1}], "to": {"name": "Ada"}}, False),
        ({"items": [{"name": "tea"}] * 2, "to": {"name": "Ada"}}, False),
        ({"items": [], "to": {"name": "Ada"}}, False),
        ({"items": [{"name": "tea"}], "to": {"name": "Ada", "street": "x"}}, False),
        ({"items": [{"name": "tea"}], "to": {"name": ["Ada"]}}, False),
        ({"items": [{"name": "tea"}], "to": {"name": "Ada"}, "notes": ["later"]}, False),
    ],
)
def test_values_that_are_accepted_within_objects(
    arguments: dict[str, Any], accepted: bool, tmp_path: Path
) -> None:
    data = lines(tmp_path / "rows.jsonl", ROWS["bfcl"].rows[1:])
    (case,) = suite_of("bfcl", data).cases
    calls = (ToolCall(name="order", arguments=arguments),)
    attempt = Attempt(
        case_id=case.id,
        index=0,
        messages=(Message(role="assistant", content="", tool_calls=calls),),
    )
    score = try_scorer(
        build("scorer", case.criteria[0].scorer), ScoreContext(case=case, attempt=attempt)
    )
    assert score.points == float(accepted), score.reason


@pytest.mark.parametrize("name", ["gsm8k", "bfcl", "simpleqa"])
def test_a_scripted_model(name: str, proctor: str, tmp_path: Path) -> None:
    written = ROWS[name]
    data = lines(tmp_path / "rows.jsonl", written.rows[:1])
    verdict = '{"reason": "It is the same person.", "result": "correct"}'
    reply = written.right[0]
    said = (
        reply
        if isinstance(reply, str)
        else Answer(None, tool_calls=tuple(ToolCall(**one) for one in reply))
    )
    with FakeServer([("You mark examination papers", verdict), ("", said)]) as server:
        model = f"openai:m@{server.url}"
        judge = ("--judge", f"openai:judge@{server.url}") if name == "simpleqa" else ()
        printed = command(proctor, "run", name, "--data", data, "--model", model, *judge)
    assert json.loads(printed)["totals"]["rate"] == 1.0


@pytest.mark.parametrize("name", ROWS)
def test_what_a_recipe_says(name: str) -> None:
    recipe = read_recipe(path_of(name))
    assert recipe.recipe == name
    assert all(source.startswith(("https://", "public ")) for source in recipe.sources)
    assert set(recipe.columns) <= set(ROWS[name].rows[0])
    assert (recipe.hub is None) is bool(recipe.url)
    assert not recipe.tried


# No commit of these is named in a public source; a run tells which one it fetched.
NOT_PINNED = {"bbh": "refs/convert/parquet", "cmmlu": None}


@pytest.mark.parametrize("name", ROWS)
def test_the_revision_is_pinned(name: str) -> None:
    hub = read_recipe(path_of(name)).hub
    if hub is not None:
        pinned = re.fullmatch("[0-9a-f]{40}", hub.revision or "") is not None
        assert pinned or hub.revision == NOT_PINNED[name]


def test_a_row_without_a_column_is_named(tmp_path: Path) -> None:
    data = lines(tmp_path / "rows.jsonl", [{"question": "q"}, {"question": "q", "answer": "12"}])
    with pytest.raises(SuiteError) as caught:
        suite_of("gsm8k", data)
    messages = [problem.message for problem in caught.value.problems]
    assert messages[0] == "the row has no column 'answer'"
    assert messages[1] == "'result' cannot be made of this row: there is no '####' in 'answer'"


def test_columns_by_other_names(proctor: str, tmp_path: Path) -> None:
    rows = [{"q": row["question"], "a": row["answer"]} for row in ROWS["gsm8k"].rows]
    data = lines(tmp_path / "rows.jsonl", rows)
    with pytest.raises(SuiteError, match="--columns question=COLUMN,answer=COLUMN, or see"):
        suite_of("gsm8k", data)
    options = {"data": str(data), "columns": "question=q,answer=a,case=id,output=reply"}
    suite = Recipes().read_all(path_of("gsm8k"), options=options)[0].suite
    said = [
        {"id": case.id, "reply": reply}
        for case, reply in zip(suite.cases, ROWS["gsm8k"].right, strict=True)
    ]
    answers = lines(tmp_path / "answers.jsonl", said)
    columns = ("--columns", options["columns"])
    printed = command(proctor, "run", "gsm8k", "--data", data, "--answers", answers, *columns)
    assert json.loads(printed)["totals"]["rate"] == 1.0
    with pytest.raises(UsageError, match="have no 'qestion'"):
        Recipes().read_all(path_of("gsm8k"), options={**options, "columns": "qestion=q"})


def test_tags_and_ids(tmp_path: Path) -> None:
    data = lines(tmp_path / "rows.jsonl", ROWS["math500"].rows)
    (case,) = suite_of("math500", data).cases
    assert case.id == "test/prealgebra/1.json"
    assert case.tags == {"subject": ("Prealgebra",), "level": ("1",)}


def test_a_folder_with_a_second_file(tmp_path: Path) -> None:
    row = dict(ROWS["bfcl"].rows[0])
    wanted = {"id": row["id"], "ground_truth": row.pop("ground_truth")}
    (tmp_path / "possible_answer").mkdir()
    lines(tmp_path / "BFCL_v3_live_multiple.json", [row])
    lines(tmp_path / "possible_answer" / "BFCL_v3_live_multiple.json", [wanted])
    (case,) = suite_of("bfcl", tmp_path).cases
    assert case.criteria[0].scorer.params["calls"][0]["name"] == "weather_get"
    assert case.tools[0].parameters["properties"]["days"] == {"type": "number"}


def test_a_folder_by_subject(tmp_path: Path) -> None:
    for subject in ("law", "music"):
        (tmp_path / subject).mkdir()
        lines(tmp_path / subject / "test.jsonl", ROWS["cmmlu"].rows)
    lines(tmp_path / "law" / "dev.jsonl", ROWS["cmmlu"].rows)
    tags = [case.tags["subject"] for case in suite_of("cmmlu", tmp_path).cases]
    assert tags == [("law",), ("music",)]


def test_a_json_list_and_a_table(tmp_path: Path) -> None:
    listed = tmp_path / "rows.json"
    listed.write_text(json.dumps(ROWS["gsm8k"].rows), encoding="utf-8")
    assert len(suite_of("gsm8k", listed).cases) == 2
    table = tmp_path / "rows.csv"
    table.write_text('problem,answer\n"Who?",Goethe\n', encoding="utf-8")
    assert suite_of("simpleqa", table).cases[0].references == ("Goethe",)


def test_rows_that_are_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_row_files, "find_spec", lambda name: None)
    with pytest.raises(MissingResource, match=r"pip install 'proctor\[hub\]'.*--data"):
        Recipes().read(path_of("gsm8k"))
    with pytest.raises(UsageError, match=r"download https://.*--data"):
        Recipes().read(path_of("simpleqa"))
    with pytest.raises(SuiteError, match="no files with rows"):
        suite_of("gsm8k", tmp_path)


def test_what_cannot_be_made() -> None:
    called = {"io": '{"fn_name": "f", "inputs": [], "outputs": []}'}
    table: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"x": {"nothing": 1}}, {}),
        ({"x": {"letter": "n"}}, {"n": -1}),
        ({"x": {"options": "n"}}, {"n": []}),
        ({"x": {"input_output": "io"}}, called),
        ({"x": {"column": "absent"}}, {}),
    ]
    for spec, row in table:
        with pytest.raises(UnusableRow):
            row_values(spec, row)


def test_the_order_of_options_depends_on_the_row_alone() -> None:
    names = ["a", "b", "c", "d"]
    spec = {
        "options": {"shuffled": names, "by": "q"},
        "letter": {"shuffled_letter": names, "by": "q"},
    }
    letters = set()
    for number in range(40):
        row = {"q": f"question {number}", "a": "right", "b": "x", "c": "y", "d": "z"}
        made = row_values(spec, row)
        assert made == row_values(spec, row)
        assert f"{made['letter']}. right" in made["options"]
        letters.add(made["letter"])
    assert letters == {"A", "B", "C", "D"}


def test_a_data_set_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of the hub is a stand-in here: no hub can be reached from tests."""
    hub = pytest.importorskip("huggingface_hub")
    folder = tmp_path / "snapshot"
    (folder / "main").mkdir(parents=True)
    lines(folder / "main" / "test.jsonl", ROWS["gsm8k"].rows)

    class File:
        rfilename = "main/test.jsonl"

    class Info:
        sha, siblings = "a" * 40, [File()]

    monkeypatch.setattr(hub.HfApi, "dataset_info", lambda *_, **__: Info())
    monkeypatch.setattr(hub, "snapshot_download", lambda *_, **__: str(folder))
    reading = Recipes().read(path_of("gsm8k"))
    assert reading.suite.version == "a" * 12
    assert reading.warnings == ()
    text = re.sub(r" revision: \w+,", "", path_of("gsm8k").read_text(encoding="utf-8"))
    (tmp_path / "gsm8k.yaml").write_text(text, encoding="utf-8")
    unpinned = Recipes().read(tmp_path / "gsm8k.yaml")
    assert "pins no revision" in unpinned.warnings[0].message
