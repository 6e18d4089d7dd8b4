"""AskBench's files as its users have them: a base INI, an INI for each task, and rows."""

import json
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer
from proctor.testing.replies import all_text

SHIPPED = Path(__file__).resolve().parents[3] / "shared" / "shipped" / "askbench"
ROLE = """\
model_type = api
api_type = {name}
sk_token = none
api_url = {url}
timeout = 600
"""
BASE = """\
[path]
save_dir = results/a-run
[model]
{candidate}model_name = default
[generateconfig]
max_tokens = 16000
temperature = 0.7
[tasks]
# all tasks, with commas
enabled = {tasks}
tasks_config_path = config/common
[evaluatorconfig]
{judge}max_turns = 3
model_name = default
"""
TASK = """\
[path]
data_dir = {folder}
save_dir = results
[evalset]
evalsetname = {name}
[model]
task_name = {name}_own
{candidate}
[generateconfig]
max_tokens = 4096
n_attempts = 1
"""
PLACEHOLDER = "http://host:port/v1"
POINTS = ["the first number", "the second number"]
ASKING = {
    "ori_question": "3 + 4?",
    "expected_answer": "7",
    "degraded_question": "the sum?",
    "degraded_info": "two numbers are missing",
    "required_points": POINTS,
}
ROWS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "math500": ("data/common", [{"ori_question": "2 + 2?", "expected_answer": "4"}]),
    "medqa": ("data/common", [{"ori_question": "A or B?", "expected_answer": "B"}]),
    "gpqa": (
        "data/common",
        [{"question": "Which?", "choice1": "a", "choice2": "b", "choice3": "c", "choice4": "d",
          "correct_index": 1}],
    ),
    "bbh": (
        "data/common",
        [{"ori_question": "True and False?", "expected_answer": "False", "category": "logic"}],
    ),
    "healthbench": (
        "data/common",
        [
            {
                "prompt": [{"role": "user", "content": "My head hurts."}],
                "rubrics": [{"criterion": "advises water", "points": 8},
                            {"criterion": "advises rest", "points": 7}],
            }
        ],
    ),
    "ask_mind": ("data/ask_bench", [{"id": "a", **ASKING}]),
    "fata_math500": ("data/fata", [{"id": "a", **ASKING}]),
    "in3_interaction": (
        "data/ask_bench",
        [{"id": 1, "task": "Plan a trip.", "vague": True,
          "missing_details": [{"description": "where to", "importance": "3", "inquiry": "Where?"}]}],
    ),
    "quest_bench": (
        "data/ask_bench",
        [{"ori_question": "x + 4?", "expected_answer": "7", "degraded_info": "x = 3",
          "required_points": ["the value of x"]}],
    ),
}  # fmt: skip


def model(messages: list[Any], body: Any) -> str:
    """Play whoever is asked, told by what the prompt wants."""
    text = all_text(messages)
    verdict: dict[str, Any] | None = None
    if "criteria_met" in text:
        verdict = {"explanation": "e", "criteria_met": "advises water" in text}
    elif "needs_more_info" in text:
        verdict = {"needs_more_info": False, "user_reply": None, "is_correct": True, "reason": "r"}
    elif "is_final_answer" in text:
        verdict = {"is_final_answer": True, "is_correct": True,
                   "all_required_points_resolved": True, "missing_required_points": []}  # fmt: skip
    elif '"result"' in text:
        verdict = {"reason": "r", "result": "correct"}
    return f"```json\n{json.dumps(verdict)}\n```" if verdict else "Drink some water: 7."


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(model) as found:
        yield found


@pytest.fixture
def dead() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}/v1/chat/completions"


Lay = Callable[..., str]


@pytest.fixture
def lay(cli: Any) -> Lay:
    """Write the folders of a user; addresses of the base and of tasks are told apart."""

    def write(base: str, task: str, *names: str) -> str:
        config = cli.folder / "config"
        (config / "common").mkdir(parents=True)
        role = ROLE.format(name="default", url=base)
        text = BASE.format(candidate=role, judge=role, tasks=",".join(names))
        (config / "base.ini").write_text(text)
        for name in names:
            folder, rows = ROWS[name]
            own = ROLE.format(name="custom", url=task) if task else ""
            ini = TASK.format(name=name, folder=folder, candidate=own)
            (config / "common" / f"{name}.ini").write_text(ini)
            write_rows(cli.folder / folder / name, rows)
        return "config/base.ini"

    return write


def write_rows(place: Path, rows: list[dict[str, Any]]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def flags(server: FakeServer) -> tuple[str, ...]:
    return ("--model", f"openai:m@{server.url}", "--judge", f"openai:j@{server.url}")


@pytest.mark.parametrize("compat", [(), ("--compat", "original")])
def test_results_lie_where_the_ini_says(
    cli: Any, lay: Lay, server: FakeServer, compat: tuple[str, ...]
) -> None:
    """One summary of all tasks, and a folder for each, named as its INI names it."""
    base = lay(server.url, "", "math500", "healthbench")
    cli("askbench", "--config", base, *compat)
    root = cli.folder / "results" / "a-run"
    lines = (root / "final_result.txt").read_text().splitlines()
    assert [line.split("|")[0].strip() for line in lines] == ["math500", "healthbench"]
    assert "HealthBench Score: 0.5333" in lines[1]
    (summary,) = json.loads(
        (root / "healthbench" / "healthbench_own" / "summary_results.json").read_text()
    )
    assert summary["attempts"][0]["correct"] == pytest.approx(8 / 15)
    assert (root / "math500" / "math500_own" / "attempt_1" / "api_responses.json").is_file()
    assert "Task: math500_own" in (root / "math500" / "math500_own" / "results.txt").read_text()


def test_out_goes_before_the_ini(cli: Any, lay: Lay, server: FakeServer) -> None:
    base = lay(server.url, "", "math500")
    cli("askbench", "--config", base, "--out", "mine")
    assert (cli.folder / "mine" / "final_result.txt").is_file()
    assert not (cli.folder / "results").exists()


@pytest.mark.parametrize("place", ["../elsewhere", "/nowhere/at/all", "link/below"])
def test_an_ini_does_not_write_outside(
    cli: Any, lay: Lay, server: FakeServer, tmp_path_factory: pytest.TempPathFactory, place: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (cli.folder / "link").symlink_to(outside)
    base = cli.folder / lay(server.url, "", "math500")
    base.write_text(base.read_text().replace("results/a-run", place))
    done = cli("askbench", "--config", str(base))
    assert f"save_dir {place} lies outside" in done.stderr
    assert f"--out {place}" in done.stderr
    assert not list(outside.iterdir())
    assert not (cli.folder.parent / "elsewhere").exists()


@pytest.mark.parametrize(
    "place", ["math500", "math500/math500_own/results.txt", "final_result.txt"]
)
def test_a_link_among_the_results_leads_nowhere(
    cli: Any, lay: Lay, server: FakeServer, tmp_path_factory: pytest.TempPathFactory, place: str
) -> None:
    target = tmp_path_factory.mktemp("outside") / "mine"
    target.write_text("mine")
    link = cli.folder / "results" / "a-run" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    done = cli("askbench", "--config", lay(server.url, "", "math500"))
    assert "save_dir results/a-run holds a link" in done.stderr
    assert target.read_text() == "mine"
    assert link.is_symlink()


def test_a_link_is_seen_whatever_the_ini_calls_the_task(
    cli: Any, lay: Lay, server: FakeServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = lay(server.url, "", "math500")
    own = cli.folder / "config" / "common" / "math500.ini"
    own.write_text(
        own.read_text().replace("evalsetname = math500", "evalsetname = ./common/../x:y")
    )
    write_rows(cli.folder / "data" / "common" / "x:y", ROWS["math500"][1])
    outside = tmp_path_factory.mktemp("outside")
    (cli.folder / "results" / "a-run").mkdir(parents=True)
    (cli.folder / "results" / "a-run" / "_common_.._x_y").symlink_to(outside)
    done = cli("askbench", "--config", base)
    assert "holds a link" in done.stderr
    assert not list(outside.iterdir())


def test_several_models_do_not_overwrite_each_other(cli: Any, lay: Lay, server: FakeServer) -> None:
    base = lay(PLACEHOLDER, "", "math500")
    more = ("--model", f"openai:n@{server.url}")
    done = cli("askbench", "--config", base, *flags(server), *more)
    assert "several models are examined" in done.stderr
    assert not (cli.folder / "results").exists()


def test_flags_go_over_addresses_that_nobody_filled_in(
    cli: Any, lay: Lay, server: FakeServer
) -> None:
    """What the INI says of sampling holds all the same."""
    base = lay(PLACEHOLDER, PLACEHOLDER, "math500", "healthbench")
    made = cli.json("askbench", "--config", base, *flags(server))["runs"]
    assert [run["run"]["suite"] for run in made] == ["math500", "healthbench"]
    asked = [call.body for call in server.calls if call.body and call.body["model"] == "m"]
    assert {body["temperature"] for body in asked} == {0.7}


def test_an_address_that_nobody_filled_in_goes_over_none(
    cli: Any, lay: Lay, server: FakeServer
) -> None:
    """A base INI that is filled in serves tasks whose INI is not, and the other way round."""
    base = lay(server.url, PLACEHOLDER, "math500")
    made = cli.json("askbench", "--config", base)
    assert made["run"]["candidate"] == "openai:default"
    path = cli.folder / base
    path.write_text(path.read_text().replace(server.url, PLACEHOLDER, 1))
    own = cli.folder / "config" / "common" / "math500.ini"
    own.write_text(own.read_text().replace(PLACEHOLDER, server.url))
    made = cli.json("askbench", "--config", base, "--compat", "original")
    assert made["run"]["candidate"] == "openai:custom"


def test_an_address_that_is_none_is_named_with_its_file(cli: Any, lay: Lay) -> None:
    base = lay(PLACEHOLDER, "", "math500")
    done = cli("askbench", "--config", base, code=2)
    assert "config/base.ini:7:1: error: this is no address of a server" in done.stderr
    assert "--model openai:NAME@URL" in done.stderr
    done = cli("askbench", "--config", base, "--model", "openai:m@http://127.0.0.1:9/v1", code=2)
    assert "config/base.ini:21:1: error: this is no address" in done.stderr
    assert "--judge openai:NAME@URL" in done.stderr
    assert "config/base.ini:7:1" in cli("check", base, code=2).stderr


def test_a_server_that_is_not_there_is_named_with_its_file(
    cli: Any, lay: Lay, server: FakeServer, dead: str
) -> None:
    """Both files name a server; which one was asked, and what changes that, is said."""
    base = lay(server.url, dead, "math500")
    done = cli("askbench", "--config", base, code=3)
    assert "config/common/math500.ini:11 ([model] api_url) names this address" in done.stderr
    assert "goes before api_url of config/base.ini:7" in done.stderr
    assert "--compat original" in done.stderr
    assert "--model" in done.stderr
    assert not (cli.folder / "results").exists()
    cli("askbench", "--config", base, "--compat", "original")


def test_a_task_that_cannot_run_does_not_keep_others_from_it(
    cli: Any, lay: Lay, server: FakeServer, dead: str
) -> None:
    """Rows that cannot be read, rows that are not there, a server that is not there."""
    base = lay(server.url, "", "math500", "medqa", "gpqa", "bbh")
    (cli.folder / "data" / "common" / "medqa" / "test.jsonl").write_text("{oops\n")
    (cli.folder / "data" / "common" / "gpqa" / "test.jsonl").unlink()
    own = cli.folder / "config" / "common" / "bbh.ini"
    own.write_text(own.read_text().replace("[model]\n", f"[model]\napi_url = {dead}\n"))
    done = cli("askbench", "--config", base, code=3)
    assert "medqa/test.jsonl:1:2: error: not valid JSON" in done.stderr
    assert "there are no rows for 'gpqa'" in done.stderr
    assert "config/common/bbh.ini:7 ([model] api_url) names this address" in done.stderr
    assert "incomplete: medqa, gpqa, bbh could not be run" in done.stderr
    assert "math500" in done.stdout
    lines = (cli.folder / "results" / "a-run" / "final_result.txt").read_text().splitlines()
    assert len(lines) == 1
    made = cli.json("askbench", "--config", base, code=3)
    assert [run["run"]["suite"] for run in made["runs"]] == ["math500"]
    assert [one["suite"] for one in made["refused"]] == ["medqa", "gpqa", "bbh"]
    plans = cli.json("plan", base, code=2)["plans"]
    assert len(plans) == 4
    made = cli.json("run", base, code=3)
    assert [one["suite"] for one in made["refused"]] == ["medqa", "gpqa", "bbh"]


def test_the_base_ini_concerns_every_task(cli: Any, lay: Lay, server: FakeServer) -> None:
    base = cli.folder / lay(server.url, "", "math500", "medqa")
    base.write_text(base.read_text().replace("temperature", "temprature"))
    done = cli("askbench", "--config", str(base), code=2)
    assert done.stderr.count("unknown key 'temprature'") == 1
    assert not [call for call in server.calls if call.body]


@pytest.mark.skipif(not SHIPPED.is_dir(), reason="the original's own files are not here")
@pytest.mark.parametrize("edited", ["flags", "all files", "base, as the original merges"])
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_the_shipped_files_start_and_finish(cli: Any, server: FakeServer, edited: str) -> None:
    """Nothing is edited but addresses."""
    shutil.copytree(SHIPPED / "config", cli.folder / "config")
    known = {path.stem: path for path in (cli.folder / "config" / "common").glob("*.ini")}
    rows = {**dict.fromkeys(known, ASKING), **{n: r[0] for n, (_, r) in ROWS.items()}}
    wrong = {"overconfidence_question": "3 + 4 is 8?", "overconfidence_info": "it is not",
             "misleading_points": ["8"], "ori_question": "3 + 4?", "expected_answer": "7"}  # fmt: skip
    for name, path in known.items():
        folder = re.search(r"data_dir = (.*)", path.read_text())
        assert folder is not None
        row = wrong if "overconfidence" in name else rows[name]
        write_rows(cli.folder / folder[1].strip() / name, [{"id": 1, **row}])
        if edited == "all files":
            path.write_text(re.sub(r"api_url = .*", f"api_url = {server.url}", path.read_text()))
    base = cli.folder / "config" / "base.ini"
    text = re.sub(r"(?m)^enabled = .*", f"enabled = {','.join(known)}", base.read_text())
    if edited != "flags":
        text = text.replace(PLACEHOLDER, server.url)
    base.write_text(text)
    more = {"flags": flags(server), "all files": ()}.get(edited, ("--compat", "original"))
    cli("askbench", "--config", "config/base.ini", *more)
    root = cli.folder / "results" / "example-run"
    lines = (root / "final_result.txt").read_text().splitlines()
    assert [line.split("|")[0].strip() for line in lines] == list(known)
    assert (root / "ask_mind_bbhde" / "ask_mind_mbbhde" / "results.txt").is_file()
