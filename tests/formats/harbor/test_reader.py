"""Folders of Harbor tasks are suites; what is wrong with one is told with its place."""

import shutil
from pathlib import Path

import pytest

from proctor.core.environment import SETUP, SOLUTIONS, EnvironmentNeeds
from proctor.errors import SuiteError
from proctor.formats.harbor.reader import Harbor

TASKS = Path(__file__).parents[2] / "data" / "harbor"
ONE = """version = "1.0"
[environment]
{environment}
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TASKS / "older", tmp_path / "tasks" / "older"))


def test_ten_tasks_are_ten_cases() -> None:
    assert Harbor().recognises(TASKS)
    reading = Harbor().read(TASKS)
    cases = {case.id: case for case in reading.suite.cases}
    assert sorted(cases) == sorted(path.name for path in TASKS.iterdir())
    assert all(case.hidden[SOLUTIONS] for case in cases.values())
    assert ["network mode allowlist" in note.message for note in reading.warnings] == [True]
    older = cases["older"]
    assert older.tags == {"difficulty": ("easy",), "category": ("files",), "keywords": ("older",)}
    assert older.setup[SETUP]["memory"] == 256 * 2**20
    assert older.prompt == "Make an empty file called empty.\n"


def test_steps_are_turns() -> None:
    case = Harbor().read(TASKS / "steps").suite.cases[0]
    assert case.id == "ours/steps"
    assert case.dialogue.params["then"] == ["Add 1 to the number in count.txt.\n"]
    assert case.dialogue.params["stop_below"] == 0.5
    assert [(one.id, one.turn, one.weight) for one in case.criteria] == [
        ("first", 0, 1.0),
        ("second", 1, 1.0),
    ]
    assert [one.scorer.params["timeout"] for one in case.criteria] == [20, 10]


def test_only_the_last_step_counts_where_the_task_says_so(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TASKS / "steps", tmp_path / "steps"))
    file = folder / "task.toml"
    file.write_text(file.read_text().replace('"mean"', '"final"'))
    case = Harbor().read(folder).suite.cases[0]
    assert [one.weight for one in case.criteria] == [0.0, 1.0]


def test_the_environment_is_read() -> None:
    case = Harbor().read(TASKS / "built").suite.cases[0]
    needs = EnvironmentNeeds.of(case)
    assert needs is not None
    assert (needs.workdir, needs.network, needs.agent_timeout) == ("/srv", "no-network", 20)
    assert sorted(needs.files) == ["lists/empty.txt", "numbers.txt"]
    users = Harbor().read(TASKS / "users").suite.cases[0]
    assert users.setup[SETUP]["user"] == "worker"
    assert users.criteria[0].scorer.params["user"] == "root"
    separate = Harbor().read(TASKS / "separate").suite.cases[0].criteria[0].scorer.params
    assert (separate["separate"], separate["artifacts"]) == (
        True,
        ["/app/report.txt", "/logs/artifacts"],
    )


def test_the_content_of_a_task_is_its_key(task: Path) -> None:
    def digests() -> tuple[object, object]:
        case = Harbor().read(task).suite.cases[0]
        return case.setup, case.criteria

    before = digests()
    assert digests() == before
    (task / "environment").mkdir()
    (task / "environment" / "more.txt").write_text("x")
    after = digests()
    assert before[0] != after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('gpus = 1', 3, "GPUs"),
        ('os = "windows"', 3, "windows"),
        ('memory_mb = "much"', 3, "expected a whole number"),
        ('memroy_mb = 1', 3, "unknown key 'memroy_mb'"),
        ('cpus = ', 3, "is no TOML"),
    ],
)  # fmt: skip
def test_problems_have_their_line(task: Path, text: str, line: int, words: str) -> None:
    (task / "task.toml").write_text(ONE.format(environment=text))
    with pytest.raises(SuiteError) as raised:
        Harbor().read(task.parent)
    (problem,) = raised.value.problems
    assert words in problem.message
    assert problem.line == line
    assert problem.file == str(task / "task.toml")


@pytest.mark.parametrize(
    ("name", "words"),
    [("environment/docker-compose.yaml", "docker compose"), ("tests/test.sh", "no tests/test.sh"),
     ("instruction.md", "no such file")],
)  # fmt: skip
def test_files_too_many_or_missing(task: Path, name: str, words: str) -> None:
    place = task / name
    place.parent.mkdir(exist_ok=True)
    if place.exists():
        place.unlink()
    else:
        place.write_text("services: {}\n")
    with pytest.raises(SuiteError, match=words):
        Harbor().read(task)


def test_links_are_refused(task: Path) -> None:
    (task / "tests" / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(SuiteError, match="is a link"):
        Harbor().read(task)
