"""The numbers of the original AskBench come out, scenario by scenario, through the command line."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import Answer, FakeServer, Fault
from proctor.testing.replies import all_text

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[1] / "golden" / "askbench.json").read_text(encoding="utf-8")
)
SCENARIOS = {scenario["name"]: scenario for scenario in GOLDEN["scenarios"]}
CASE = re.compile(r"\[\[CASE:([\w.-]+)\]\]")
TURN = re.compile(r"\[\[TURN:(\d+)\]\]")
RUBRIC = re.compile(r"\[\[RUBRIC:([\w.-]+)\]\]")
SINGLE = ("math500", "medqa", "gpqa")
DIALOGUES = [
    name for name, found in SCENARIOS.items() if "metrics" in found["expected"]["attempts"][0]
]
NAMES = {
    "acc": "accuracy", "ask_rate": "ask_rate", "cov_rate": "cov_rate", "unq_rate": "unq_rate",
    "unq_events": "unq_events", "score": "score", "vague_ask_rate": "vague_ask_rate",
    "clear_direct_rate": "clear_direct_rate",
}  # fmt: skip


class Script:
    """Play candidate, judge and simulated user as a scenario says."""

    def __init__(self, scripts: dict[str, Any]) -> None:
        self.scripts = scripts
        self.calls: Counter[tuple[str, ...]] = Counter()
        self.asked: Counter[str] = Counter()

    def server(self) -> FakeServer:
        return FakeServer(roles={"cand": self.candidate, "judge": self.judge})

    def candidate(self, messages: list[Any], body: Any) -> Any:
        case = CASE.findall(all_text(messages))[0]
        script = self.scripts[case]
        said = sum(message["role"] == "assistant" for message in messages)
        turn = 1 + said - script.get("history_assistant", 0)
        found = self.pick(self.turn_of(case, turn).get("candidate", "a reply"), "cand", case, turn)
        if not isinstance(found, dict):
            return f"{found} [[CASE:{case}]][[TURN:{turn}]]"
        if found.get("body") is not None:
            return found["body"]
        if found.get("status", 200) == 429:
            return Fault("rate_limit", retry_after=0.0)
        if found.get("status", 200) != 200:
            return Fault("error", status=found["status"], message=str(found.get("content")))
        text = found.get("content", "a reply")
        marked = text if text is None else f"{text} [[CASE:{case}]][[TURN:{turn}]]"
        return Answer(marked, finish=found.get("finish", "stop"))

    def judge(self, messages: list[Any], body: Any) -> Any:
        text = all_text(messages)
        case = CASE.findall(text)[0]
        turn = max(map(int, TURN.findall(text)), default=1)
        if "criteria_met" in text:
            item = RUBRIC.findall(text)[-1]
            return self.ruled(self.pick(self.scripts[case]["rubrics"][item], "rubric", case, item))
        if "is_final_answer" in text or '"result"' in text:
            return self.ruled(self.pick(self.turn_of(case, turn)["judge"], "judge", case, turn))
        return self.pick(self.turn_of(case, turn).get("sim", "a user's reply"), "sim", case, turn)

    def turn_of(self, case: str, turn: int) -> Any:
        turns = self.scripts[case]["turns"]
        return turns[min(turn, len(turns)) - 1]

    def pick(self, scripted: Any, kind: str, case: str, place: Any) -> Any:
        key = (kind, case, str(place))
        number = self.calls[key]
        self.calls[key] += 1
        self.asked[kind] += 1
        if isinstance(scripted, list):
            return scripted[min(number, len(scripted) - 1)]
        return scripted

    @staticmethod
    def ruled(decision: Any) -> str:
        if isinstance(decision, str):
            return decision
        if "raw" in decision:
            return str(decision["raw"])
        return f"Reasoning: scripted.\n```json\n{json.dumps(decision)}\n```"


def base_ini(server: FakeServer, scenario: Any, more: str = "") -> str:
    options = scenario["options"]
    return f"""\
[model]
model_type = api
api_type = default
model_name = default
api_url = {server.url_of("cand")}/chat/completions
sk_token = none
timeout = 600
[generateconfig]
top_p = 0.8
top_k = 20
max_tokens = 16000
temperature = 0.7
max_concurrent = {options["max_concurrent"]}
n_attempts = {options["n_attempts"]}
[tasks]
enabled = "{scenario["evalset"]}"
tasks_config_path = config/common
[path]
save_dir = results
[evaluatorconfig]
model_type = api
api_type = default
model_name = default
api_url = {server.url_of("judge")}
temperature = 0.0
max_new_tokens = 2048
max_concurrent = 8
max_turns = {options["max_turns"]}
{more}
"""


def write(folder: Path, server: FakeServer, scenario: Any, more: str = "") -> str:
    """Write a repository of the original's shape, and return its base INI."""
    evalset = scenario["evalset"]
    rows = folder / "data" / evalset
    for place in (rows, folder / "config" / "common"):
        place.mkdir(parents=True, exist_ok=True)
    base = folder / "config" / "base.ini"
    base.write_text(base_ini(server, scenario, more))
    own = f"[evalset]\nevalsetname = {evalset}\n[path]\ndata_dir = data\n[model]\ntask_name = {evalset}\n"
    (folder / "config" / "common" / f"{evalset}.ini").write_text(own)
    text = "".join(json.dumps(row) + "\n" for row in scenario["rows"])
    (rows / "test.jsonl").write_text(text)
    return str(base)


def run(cli: Any, name: str, *more: str, code: int = 0) -> tuple[Any, Script]:
    scenario = SCENARIOS[name]
    script = Script(scenario["scripts"])
    cli.env |= scenario["options"]["env"]
    with script.server() as server:
        base = write(cli.folder, server, scenario)
        made = cli.json("askbench", "--config", base, "--cases", *more, code=code)
    return made, script


def ending(name: str) -> int:
    """Return the exit code of a run in the original's way: 3 where it skips more than 10 %."""
    scenario = SCENARIOS[name]
    expected = scenario["expected"]["attempts"][0]
    counts = expected.get("metrics", expected)
    total = len(scenario["rows"])
    skipped = counts["skipped"] if "skipped" in counts else total - counts["valid"]
    return 3 if skipped > 0.1 * total else 0


def mark(scenario: Any, case: Any) -> str:
    """Return the mark by which the scenario knows a case."""
    for index, row in enumerate(scenario["rows"]):
        if str(row.get("id", index)) == case["id"]:
            return CASE.findall(json.dumps(row))[0]
    raise AssertionError(case["id"])


@pytest.mark.parametrize("name", DIALOGUES)
@pytest.mark.sampled(5)
def test_every_dialogue(cli: Any, name: str) -> None:
    scenario = SCENARIOS[name]
    made, script = run(cli, name, "--compat", "original", code=ending(name))
    expected = scenario["expected"]["attempts"][0]["metrics"]
    for known, ours in NAMES.items():
        if known in expected:
            value = made["measures"][ours]["value"]
            assert value == pytest.approx(expected[known], abs=1e-9), known
    assert ("accuracy" in made["measures"]) == ("acc" in expected)
    assert made["totals"]["unscored"] == expected["skipped"]
    assert made["totals"]["cases"] == expected["total"]
    assert made["measures"]["reasons"]["detail"] == expected["reasons"]
    kinds = scenario["requests"]["by_kind"]
    wanted = {kind: found["count"] for kind, found in kinds.items() if kind != "health"}
    assert dict(script.asked) == wanted


@pytest.mark.parametrize("name", SINGLE)
def test_every_single_turn(cli: Any, name: str) -> None:
    scenario = SCENARIOS[name]
    made, script = run(cli, name, "--compat", "original", code=ending(name))
    check_single(scenario, made)
    kinds = scenario["requests"]["by_kind"]
    assert script.asked["cand"] == kinds["cand"]["count"]
    assert script.asked["judge"] == kinds["judge1"]["count"]


def check_single(scenario: Any, made: Any) -> None:
    expected = scenario["expected"]["attempts"][0]
    value = made["measures"]["accuracy"]["value"]
    assert value == pytest.approx(expected["accuracy"], abs=1e-9)
    assert made["totals"]["unscored"] == expected["skipped"]
    rows = {row["case"]: row for row in expected["per_case"]}
    for case in made["cases"]:
        row = rows[mark(scenario, case)]
        found = case["attempts"][0]["value"]
        assert found == (None if row["correct"] is None else float(row["correct"])), row


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try failed calls again without waiting."""
    monkeypatch.setattr("proctor.models.retrying.FIRST_WAIT", 0.0)
    monkeypatch.setattr("proctor.models.retrying.LONGEST_WAIT", 0.0)


@pytest.mark.usefixtures("hasty")
def test_a_candidate_that_fails(cli: Any) -> None:
    """The original judges the words Error and None; by default they are no answers."""
    scenario = SCENARIOS["candidate_errors_math500"]
    made, _ = run(cli, "candidate_errors_math500", "--compat", "original")
    check_single(scenario, made)
    made, _ = run(cli, "candidate_errors_math500", code=3)
    assert made["run"]["status"] == "incomplete"
    found = {mark(scenario, case): case["attempts"][0]["status"] for case in made["cases"]}
    assert found == {
        "e00_http500_twice": "scored",
        "e01_http500_always": "error",
        "e02_null_content": "unanswered",
        "e03_empty_choices_always": "error",
        "e04_http429_once": "scored",
        "e05_ok": "scored",
    }
    assert made["measures"]["accuracy"]["value"] == pytest.approx(3 / 4)


def test_healthbench(cli: Any) -> None:
    scenario = SCENARIOS["healthbench"]
    code = ending("healthbench")
    made, script = run(cli, "healthbench", "--compat", "original", code=code)
    expected = scenario["expected"]["attempts"][0]
    found = made["measures"]["healthbench"]
    assert found["value"] == pytest.approx(expected["score"], abs=1e-9)
    assert found["n"] == expected["valid"]
    assert script.asked["rubric"] == scenario["requests"]["by_kind"]["rubric"]["count"]


@pytest.mark.parametrize("name", ["math500", "gpqa", "healthbench", "ask_mind", "in3_interaction"])
@pytest.mark.sampled(4)
def test_the_original_files(cli: Any, name: str) -> None:
    scenario = SCENARIOS[name]
    run(cli, name, "--compat", "original", "--out", "written", code=ending(name))
    root = cli.folder / "written"
    found = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    assert found == scenario["expected"]["files"]
    line = (root / "final_result.txt").read_text().rstrip("\n")
    duration = r"Total time: \d+:\d\d:\d\d(\.\d{6})?$"
    assert re.search(duration, line)
    shown = re.sub(duration, "Total time: <duration>", line)
    assert shown == scenario["expected"]["final_result_line"]


def test_the_detailed_file_agrees_with_the_original(cli: Any) -> None:
    scenario = SCENARIOS["ask_mind"]
    code = ending("ask_mind")
    run(cli, "ask_mind", "--compat", "original", "--out", "written", code=code)
    path = cli.folder / "written" / "ask_mind" / "ask_mind" / "askbench_detailed_results.json"
    records = json.loads(path.read_text())
    expected = scenario["expected"]["attempts"][0]["per_case"]
    assert [record["id"] for record in records] == [row["id"] for row in expected]
    same = (
        "correct", "reason", "final_turn", "is_final_answer", "all_required_points_resolved",
        "missing_required_points", "skipped",
    )  # fmt: skip
    for record, row in zip(records, expected, strict=True):
        assert {key: record[key] for key in same} == {key: row[key] for key in same}
        tries = [turn["judge_parse_attempts"] for turn in record["turn_logs"]]
        assert tries == row["judge_parse_attempts"]
        assert len(record["conversation_history"]) == row["messages"]
        for name in ("redundant_question_events", "premature_final_answer", "asked_any_question"):
            assert record["behavior_metrics"][name] == row[name]


@pytest.mark.parametrize(
    ("name", "measure", "value", "original", "code"),
    [
        # The judge's words true, MATCH and the like are no verdicts by the document.
        ("math500", "accuracy", 8 / 13, 10 / 17, 3),
        ("medqa", "accuracy", 5 / 8, 6 / 9, 3),
        # An unreadable item makes a case unscored; one without positive points has no value.
        ("healthbench", "healthbench", 0.525, 2.6 / 6, 3),
        # Flags that are missing, null or texts are asked for again, as are two rulings that differ;
        # the list goes over the flag.
        ("ask_mind", "accuracy", 8 / 12, 11 / 18, 3),
        ("ask_mind", "cov_rate", 7 / 10, 13 / 16, 3),
        ("ask_mind_turns2", "score", 0.6833333333, 0.6833333333, 0),
        ("ask_overconfidence", "score", 0.7138888889, 0.7138888889, 0),
        ("quest_bench", "accuracy", 5 / 9, 5 / 9, 0),
        ("in3_interaction", "vague_ask_rate", 0.8, 0.8, 0),
    ],
)
@pytest.mark.sampled(12)
def test_where_the_default_differs(
    cli: Any, name: str, measure: str, value: float, original: float, code: int
) -> None:
    made, _ = run(cli, name, code=code)
    assert made["measures"][measure]["value"] == pytest.approx(value, abs=1e-9)
    expected = SCENARIOS[name]["expected"]["attempts"][0]
    known = {**expected, **expected.get("metrics", {}), "healthbench": expected.get("score")}
    key = measure if measure in expected.get("metrics", {}) or measure == "healthbench" else ""
    assert known[key or ("acc" if "metrics" in expected else "accuracy")] == pytest.approx(original)


def test_fata_by_the_document(cli: Any) -> None:
    scenario = SCENARIOS["fata_math500"]
    row = {**scenario["rows"][0]}
    verdicts = {
        "ask": {"needs_more_info": True, "user_reply": "They are 3 and 4.", "is_correct": None},
        "right": {"needs_more_info": False, "user_reply": None, "is_correct": True},
        "wrong": {"needs_more_info": False, "user_reply": None, "is_correct": False},
    }
    plays = {
        "direct": ["right"],
        "asks": ["ask", "right"],
        "keeps": ["ask", "ask"],
        "fails": ["ask", "wrong"],
    }

    def candidate(messages: list[Any], body: Any) -> str:
        case = CASE.findall(all_text(messages))[0]
        turn = 1 + sum(message["role"] == "assistant" for message in messages)
        return f"a reply [[CASE:{case}]][[TURN:{turn}]]"

    def judge(messages: list[Any], body: Any) -> str:
        text = all_text(messages)
        assert "needs_more_info" in text
        turn = max(map(int, TURN.findall(text)))
        verdict = verdicts[plays[CASE.findall(text)[0]][turn - 1]]
        return Script.ruled({**verdict, "reason": "scripted"})

    rows = [
        {**json.loads(json.dumps(row).replace(CASE.findall(json.dumps(row))[0], play)), "id": play}
        for play in plays
    ]
    changed = {**scenario, "rows": rows, "options": {**scenario["options"], "max_turns": 2}}
    with FakeServer(roles={"cand": candidate, "judge": judge}) as server:
        base = write(cli.folder, server, changed)
        made = cli.json("askbench", "--config", base, "--out", "written")
        asked = [
            call.body["messages"][0]["content"] for call in server.calls if call.role == "cand"
        ]
    assert made["measures"]["accuracy"]["value"] == 0.5
    assert made["measures"]["clarified"]["value"] == 3
    assert made["measures"]["kept_asking"]["value"] == 1
    assert all(text.startswith("User request: ") for text in asked)
    path = cli.folder / "written" / "fata_math500" / "fata_math500" / "summary_results.json"
    (summary,) = json.loads(path.read_text())
    assert (summary["clarified"], summary["kept_asking"], summary["judge_unreadable"]) == (3, 1, 0)


def test_several_tasks_and_nothing_twice(cli: Any) -> None:
    """Two tasks make two runs; started again, only the ruling that nobody could read is asked."""
    gpqa, quest = SCENARIOS["gpqa"], SCENARIOS["quest_bench"]
    script = Script({**gpqa["scripts"], **quest["scripts"]})
    with script.server() as server:
        write(cli.folder, server, gpqa)
        base = write(cli.folder, server, quest)
        tasks = ("--tasks", "gpqa, quest_bench", "--compat", "original")
        first = cli.json("askbench", "--config", base, *tasks)
        calls = len(server.calls)
        again = cli.json("askbench", "--config", base, *tasks)
        asked = [call for call in server.calls[calls:] if call.path.endswith("/completions")]
    assert [found["run"]["suite"] for found in first["runs"]] == ["gpqa", "quest_bench"]
    assert [found["measures"] for found in first["runs"]] == [
        found["measures"] for found in again["runs"]
    ]
    assert first["runs"][1]["totals"]["unscored"] == 1
    assert [(call.role, call.said) for call in asked] == [
        ("judge", "Reasoning: I will not give JSON today.")
    ] * 10


@pytest.mark.slow
def test_an_item_that_counts_as_not_met_is_not_bought_again(cli: Any) -> None:
    """The original's rule makes a mark of an unreadable item, and so it is done with."""
    scenario = SCENARIOS["healthbench"]
    script = Script(scenario["scripts"])
    with script.server() as server:
        args = ("askbench", "--config", write(cli.folder, server, scenario), "--cases")
        first = cli.json(*args, "--compat", "original", code=3)
        calls = len(server.calls)
        again = cli.json(*args, "--compat", "original", code=3)
        asked = [call for call in server.calls[calls:] if call.path.endswith("/completions")]
        cli.json(*args, code=3)
        calls = len(server.calls)
        cli.json(*args, code=3)
        unread = {call.said for call in server.calls[calls:] if call.role == "judge"}
    assert first["measures"] == again["measures"]
    assert asked == []
    assert "Reasoning: I will not give JSON today." in unread


def test_results_of_other_tools_are_gathered(cli: Any) -> None:
    base = cli.write(
        "base.ini",
        "[tasks]\nenabled = arc, mmlu\ntasks_config_path = config/EvalScope\n[path]\nsave_dir = results\n",
    )
    for stamp, value in (("20250101_000000", "0.1"), ("20250301_120000", "0.25")):
        place = cli.folder / "results" / "arc" / stamp
        place.mkdir(parents=True)
        (place / "results.txt").write_text(f"Task: arc\nAccuracy: {value}\nTotal time: 0:01:02\n")
    done = cli("askbench", "--config", base, code=3)
    line = f"{'arc':<30} | {'Accuracy: 0.25':<30} | Total time: 0:01:02"
    assert line in done.stdout.splitlines()
    assert "mmlu: no results.txt" in done.stdout
    assert (cli.folder / "results" / "final_result.txt").read_text() == f"{line}\n"
