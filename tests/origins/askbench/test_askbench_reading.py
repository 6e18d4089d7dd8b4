"""What a path of AskBench means: its tasks, their files, and how they are put."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.dialect import Dialect, Reading
from proctor.core.suite import Spec, Suite
from proctor.errors import DialectError, SuiteError, UsageError

QUESTION = {"ori_question": "2 + 2?", "expected_answer": "4"}
MIND = {**QUESTION, "degraded_question": "less", "degraded_info": "why", "required_points": ["a"]}
BASE = """\
[model]
api_type = qwen
api_url = http://127.0.0.1:9/v1
[generateconfig]
temperature = 0.5
max_tokens = 100
[tasks]
enabled = math500, ask_mind
tasks_config_path = config/common
[path]
save_dir = results
[evaluatorconfig]
api_type = judge
api_url = http://127.0.0.1:9/v1
max_turns = 5
"""


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GUIDANCE_MODE", raising=False)
    monkeypatch.delenv("STRICT_MODE", raising=False)


def dialect() -> Dialect:
    found: Dialect = registry.build("dialect", Spec(name="askbench"))
    return found


def write(path: Path, text: str | Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = text if isinstance(text, str) else "".join(json.dumps(row) + "\n" for row in text)
    path.write_text(lines)
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Write a repository in the original's shape."""
    common = "[evalset]\nevalsetname = {0}\n[path]\ndata_dir = data/{1}\n[generateconfig]\nmax_tokens = 7\n"
    write(tmp_path / "config/common/math500.ini", common.format("math500", "common"))
    write(tmp_path / "config/common/ask_mind.ini", common.format("ask_mind", "ask_bench"))
    write(tmp_path / "data/common/math500/test.jsonl", [QUESTION])
    write(tmp_path / "data/ask_bench/ask_mind/test.jsonl", [MIND])
    return write(tmp_path / "config/base.ini", BASE)


def change(path: Path, before: str, after: str) -> Path:
    text = path.read_text()
    assert before in text
    return write(path, text.replace(before, after))


def read(path: Path, compat: str = "", **options: str) -> Sequence[Reading]:
    return dialect().read_all(path, compat=compat, options=options)


def asked(reading: Reading) -> dict[str, Any]:
    return dict(reading.suite.cases[0].dialogue.params)


def test_every_enabled_task_is_read(base: Path) -> None:
    first, second = read(base)
    assert (first.suite.name, second.suite.name) == ("math500", "ask_mind")
    assert first.roles["candidate"].spec == "openai:qwen@http://127.0.0.1:9/v1"
    assert first.roles["judge"].spec == "openai:judge@http://127.0.0.1:9/v1"
    assert "simulator" not in first.roles
    assert first.warnings == second.warnings == ()
    assert [measure.name for measure in first.suite.measures] == ["accuracy", "truncation_rate"]
    assert [measure.name for measure in second.suite.measures] == [
        "accuracy", "ask_rate", "cov_rate", "unq_rate", "unq_events", "score", "reasons",
        "truncation_rate",
    ]  # fmt: skip


def test_a_task_goes_over_the_base_and_in_the_original_under_it(base: Path) -> None:
    ours, original = read(base)[0], read(base, "original")[0]
    assert ours.roles["candidate"].sampling.max_tokens == 7
    assert original.roles["candidate"].sampling.max_tokens == 100


def test_files_are_found_from_the_working_directory(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = write(tmp_path / "elsewhere/deep/down/mine.ini", base.read_text())
    with pytest.raises(SuiteError):
        read(away, tasks="quest_bench")
    monkeypatch.chdir(tmp_path)
    assert len(read(away)) == 2
    assert len(read(Path("config/base.ini"))) == 2
    assert len(read(Path("config"))) == 2


def test_a_known_task_needs_no_ini(base: Path, tmp_path: Path) -> None:
    row = {**QUESTION, "degraded_info": "N = 4", "required_points": ["N"]}
    write(tmp_path / "data/ask_bench/quest_bench/test.jsonl", [row])
    (found,) = read(base, tasks="quest_bench")
    assert asked(found)["scenario"] == "plain"


def test_a_new_task_is_a_folder_and_an_ini(base: Path, tmp_path: Path) -> None:
    own = "[evalset]\nevalsetname = riddles\n[path]\ndata_dir = data/mine\n"
    write(tmp_path / "config/common/riddles.ini", own)
    write(tmp_path / "data/mine/riddles/test.jsonl", [MIND])
    (found,) = read(base, tasks=" riddles ")
    assert found.suite.name == "riddles"
    assert asked(found)["scenario"] == "missing_info"
    (alone,) = read(tmp_path / "config/common/riddles.ini")
    assert [case.id for case in alone.suite.cases] == ["0"]
    write(tmp_path / "data/mine/riddles/riddles.ini", own + "[generateconfig]\nn_attempts = 3\n")
    (folder,) = read(tmp_path / "data/mine/riddles")
    assert folder.attempts == 3
    assert "pass@1" in [measure.name for measure in folder.suite.measures]


def test_attempts(base: Path) -> None:
    assert read(base)[0].attempts is None
    change(base, "[generateconfig]\n", "[generateconfig]\nn_attempts = 2\n")
    assert read(base)[0].attempts == 2
    assert read(base, attempts="4")[0].attempts == 4


@pytest.mark.parametrize(
    ("key", "options", "turns"),
    [
        ("max_turns = 5", {}, 5),
        ("max_turns = 5", {"max_turns": "2"}, 2),
        ("", {}, 3),
        ("max_turns =", {}, 3),
    ],
)
def test_turns(base: Path, key: str, options: dict[str, str], turns: int) -> None:
    change(base, "max_turns = 5", key)
    assert asked(read(base, **options)[1])["max_turns"] == turns


@pytest.mark.parametrize(
    ("env", "ini", "flag", "guidance"),
    [
        ("", "", "", "none"),
        ("", "guidance_mode = weak", "", "weak"),
        ("STRONG", "guidance_mode = weak", "", "strong"),
        ("strong", "", "fata", "fata"),
        ("strong", "", "none", "none"),
    ],
)
def test_guidance(
    base: Path, monkeypatch: pytest.MonkeyPatch, env: str, ini: str, flag: str, guidance: str
) -> None:
    monkeypatch.setenv("GUIDANCE_MODE", env)
    change(base, "max_turns = 5", ini)
    options = {"guidance": flag} if flag else {}
    assert asked(read(base, **options)[1])["guidance"] == guidance


@pytest.mark.parametrize(
    ("env", "ini", "flag", "strict"),
    [
        ("", "", "", False),
        ("", "strict_mode = 1", "", True),
        ("0", "strict_mode = 1", "", False),
        ("1", "", "", True),
        ("Yes", "", "", True),
        ("1", "", "0", False),
        ("", "", "1", True),
    ],
)
def test_strictness(
    base: Path, monkeypatch: pytest.MonkeyPatch, env: str, ini: str, flag: str, strict: bool
) -> None:
    monkeypatch.setenv("STRICT_MODE", env)
    change(base, "max_turns = 5", ini)
    options = {"strict": flag} if flag else {}
    assert asked(read(base, **options)[1])["strict"] is strict


@pytest.mark.parametrize(("name", "value"), [("GUIDANCE_MODE", "weka"), ("STRICT_MODE", "maybe")])
def test_modes_nobody_knows(
    base: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f"{name} is '{value}'"):
        read(base)
    found = asked(read(base, "original")[1])
    assert (found["guidance"], found["strict"]) == ("none", False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_turn": "3"}, "has no option 'max_turn' .did you mean 'max_turns'"),
        ({"max_turns": "0"}, "--max-turns must be a whole number of at least 1, not '0'"),
        ({"max_turns": "x"}, "--max-turns must be a whole number"),
        ({"attempts": "0"}, "--attempts must be a whole number"),
        ({"guidance": "loud"}, "unknown guidance 'loud'"),
        ({"strict": "maybe"}, "strict is 'maybe'"),
    ],
)
def test_options_that_cannot_be(base: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(base, **options)


def fata(folder: Path) -> Path:
    write(folder / "fata_math500/test.jsonl", [MIND])
    return folder / "fata_math500"


def test_fata_by_the_document_and_as_the_original(tmp_path: Path) -> None:
    folder = fata(tmp_path)
    (ours,), (original,) = read(folder), read(folder, "original")
    dialogue = ours.suite.cases[0].dialogue
    assert dialogue == Spec(name="fata", params={"max_turns": 2, "guidance": "none", "tries": 10})
    assert asked(original) == {
        "scenario": "missing_info", "max_turns": 3, "guidance": "none", "strict": False,
        "tries": 10, "compat": "original", "wrapper": "fata",
    }  # fmt: skip
    names = [measure.name for measure in ours.suite.measures]
    assert {"clarified", "kept_asking", "unreadable"} < set(names)
    assert "score" not in names
    assert "score" not in [measure.name for measure in original.suite.measures]
    assert asked(read(folder, max_turns="4")[0])["max_turns"] == 4
    (warning,) = read(folder, strict="1")[0].warnings
    assert "strict mode does not change it" in warning.message


def test_in3_ignores_modes_in_the_original(tmp_path: Path) -> None:
    row = {"task": "t", "vague": False, "missing_details": []}
    folder = write(tmp_path / "in3_interaction/test.jsonl", [row]).parent
    ours = asked(read(folder, strict="1", guidance="fata")[0])
    assert (ours["strict"], ours["guidance"]) == (True, "fata")
    original = asked(read(folder, "original", strict="1", guidance="fata")[0])
    assert (original["strict"], original["guidance"]) == (False, "none")
    assert asked(read(folder, "original", guidance="weak")[0])["guidance"] == "weak"


def test_a_section_of_the_tasks_name(base: Path) -> None:
    change(base, "[tasks]", "[math500]\ntemperature = 0.25\nbeam = 4\n[tasks]")
    first, second = read(base)
    assert first.roles["candidate"].sampling.temperature == 0.25
    assert second.roles["candidate"].sampling.temperature == 0.5
    messages = [warning.message for warning in first.warnings]
    assert [message.rpartition("; ")[2] for message in messages] == [
        "'temperature' is taken as if it stood in [generateconfig]",
        "'beam' has no effect",
    ]


def test_examples_are_shown_before_the_question(base: Path, tmp_path: Path) -> None:
    change(base, "[generateconfig]\n", "[generateconfig]\nshot = 1\n")
    (warning,) = read(base, tasks="math500")[0].warnings
    assert "no examples are shown" in warning.message
    rows = [{"ori_question": "1 + 1?", "expected_answer": "2"}, QUESTION]
    write(tmp_path / "data/common/math500/train.jsonl", rows)
    (found,) = read(base, tasks="math500")
    said = [(message.role, message.content) for message in found.suite.cases[0].messages]
    assert said == [("user", "1 + 1?"), ("assistant", "2"), ("user", "2 + 2?")]
    assert len(read(base, "original", tasks="math500")[0].suite.cases[0].messages) == 1


def test_the_language_of_the_judge(base: Path) -> None:
    assert read(base)[0].suite.language == "en"
    change(base, "max_turns = 5", "language = zh")
    assert read(base)[0].suite.language == "zh"


@pytest.mark.parametrize(
    ("before", "after", "place", "message"),
    [
        ("api_type = qwen", "api_tpye = qwen", "config/base.ini:2", "unknown key 'api_tpye'"),
        ("math500, ask_mind", "math5OO", "config/base.ini:8", "there is no task 'math5OO'"),
        (
            "math500, ask_mind",
            "quest_bench",
            "config/base.ini",
            "there are no rows for 'quest_bench'",
        ),
        ("math500, ask_mind", ",", "config/base.ini:8", "no task is enabled"),
        ("enabled = math500, ask_mind", "", "config/base.ini", "no task is enabled"),
        ("max_turns = 5", "max_turns = no", "config/base.ini:15", "expected a whole number"),
        (
            "max_turns = 5",
            "guidance_mode = loud",
            "config/base.ini:15",
            "unknown guidance_mode 'loud'",
        ),
        ("[model]", "[modle]", "config/base.ini:1", "unknown section [modle]"),
        (
            "config/common",
            "OpenCompass/x",
            "config/base.ini:9",
            "these tasks are run by another tool",
        ),
    ],
)
def test_mistakes_in_the_base(
    base: Path, tmp_path: Path, before: str, after: str, place: str, message: str
) -> None:
    change(base, before, after)
    with pytest.raises(SuiteError) as caught:
        read(base)
    (problem,) = caught.value.problems
    assert problem.message.startswith(message)
    assert problem.place.startswith(str(tmp_path / place))


def test_mistakes_of_all_tasks_are_said_at_once(base: Path, tmp_path: Path) -> None:
    change(base.parent / "common/math500.ini", "max_tokens", "max_token")
    write(tmp_path / "data/ask_bench/ask_mind/test.jsonl", "{\n")
    change(base, "temperature = 0.5", "temperature = hot")
    with pytest.raises(SuiteError) as caught:
        read(base)
    assert [problem.message.split("'")[0] for problem in caught.value.problems] == [
        "unknown key ",
        "expected a number for ",
        "not valid JSON: Expecting property name enclosed in double quotes",
    ]


def test_the_rows_must_lie_inside_the_root(base: Path, tmp_path: Path) -> None:
    assert len(dialect().read_all(base, root=tmp_path)) == 2
    with pytest.raises(SuiteError, match="lie outside the folder"):
        dialect().read_all(base, root=base.parent)


def test_one_task_is_wanted_where_one_suite_is(base: Path, tmp_path: Path) -> None:
    with pytest.raises(DialectError, match="enables 2 tasks: math500, ask_mind"):
        dialect().read(base)
    assert dialect().read(tmp_path / "data/common/math500").suite.name == "math500"
    with pytest.raises(UsageError, match="unknown compat mode 'other'"):
        dialect().read(base, compat="other")


def test_there_are_no_answers_on_file(tmp_path: Path) -> None:
    with pytest.raises(DialectError):
        next(iter(dialect().answers(tmp_path, Suite(name="x", cases=()))))


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("a.ini", "[model]\n", True),
        ("a.cfg", "# hi\n\n[tasks]\n", True),
        ("a.ini", "[pytest]\naddopts = -q\n", False),
        ("a.txt", "[model]\n", False),
        ("a.jsonl", [QUESTION], True),
        ("a.jsonl", [MIND], True),
        ("a.jsonl", [{"prompt": [], "rubrics": []}], True),
        ("a.jsonl", [{"task": "t", "missing_details": []}], True),
        ("a.jsonl", [{"ask": "?", "criteria": "x"}], False),
        ("a.jsonl", [{**QUESTION, "ask": "?"}], False),
        ("a.jsonl", [{"suite": {"name": "x"}}], False),
        ("a.jsonl", [{"case": "a", "output": "b"}], False),
        ("a.jsonl", [{"question": "q", "answer": "a"}], False),
        ("a.jsonl", "not json\n", False),
        ("math500/test.jsonl", "{broken\n", True),
        ("b/test.jsonl", "{broken\n", False),
        ("a.csv", "ori_question,expected_answer\n", False),
    ],
)
def test_recognition(tmp_path: Path, name: str, content: Any, known: bool) -> None:
    path = write(tmp_path / name, content)
    assert dialect().recognises(path) is known
    native: Dialect = registry.build("dialect", Spec(name="native"))
    assert not (known and native.recognises(path))


def test_recognition_of_folders(base: Path, tmp_path: Path) -> None:
    found = dialect()
    assert found.recognises(base.parent)
    assert found.recognises(tmp_path / "data/common/math500")
    assert not found.recognises(tmp_path / "data")
    assert not found.recognises(base.parent / "common")
    write(tmp_path / "new/test.jsonl", [{"x": 1}])
    assert not found.recognises(tmp_path / "new")
    write(tmp_path / "new/task.ini", "[evalset]\nevalsetname = new\n")
    assert found.recognises(tmp_path / "new")
    with pytest.raises(SuiteError, match="the rows are of no kind that AskBench has"):
        found.read(tmp_path / "new")
