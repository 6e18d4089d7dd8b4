"""Dialogues replayed from the original's own runs: the same outcomes, requests and numbers."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialogue import Candidate, DialogueContext
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer as judged
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import null_value, value_of
from proctor.core.exchange import Reply, Request, Sampling
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.io.concurrency import run_sync
from proctor.judging import ModelJudge, prompts
from proctor.registry import build
from proctor.testing import ScriptedModel

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[1] / "golden" / "askbench.json").read_text(encoding="utf-8")
)
SCENARIOS = {s["name"]: s for s in GOLDEN["scenarios"] if "metrics" in s["expected"]["attempts"][0]}
MASKS = {
    "<FORCE_FINAL>": "ask_last_turn",
    "<WEAK_GUIDANCE>": "ask_guidance_weak",
    "<FATA_GUIDANCE>": "fata_guidance",
}


class Script:
    """Play all three roles as the scenario says, telling case and turn by their tags."""

    def __init__(self, scripts: dict[str, Any]) -> None:
        self.scripts = scripts
        self.calls: Counter[tuple[str, int, str]] = Counter()
        self.candidate_messages: list[dict[str, Any]] = []
        self.samplings: dict[str, set[str]] = {"judge": set(), "sim": set()}

    def line(self, text: str, kind: str, turn: int | None = None) -> tuple[Any, str, int]:
        case = re.findall(r"\[\[CASE:([\w.-]+)\]\]", text)[0]
        found = [int(n) for n in re.findall(r"\[\[TURN:(\d+)\]\]", text)]
        turn = turn or max(found, default=1)
        turns = self.scripts[case]["turns"]
        default = {"candidate": "scripted reply", "sim": "scripted user reply"}.get(kind)
        line = turns[min(turn, len(turns)) - 1].get(kind, default)
        said = self.calls[case, turn, kind]
        self.calls[case, turn, kind] += 1
        return (line[min(said, len(line) - 1)] if isinstance(line, list) else line), case, turn

    def rules(self, request: Request) -> str:
        text = "\n".join(message.content for message in request.messages)
        assert "is_final_answer" in text
        assert "criteria_met" not in text
        assert '"result"' not in text
        self.samplings["judge"].add(sampling(request))
        line = self.line(text, "judge")[0]
        if isinstance(line, str):
            return line
        if "raw" in line:
            return str(line["raw"])
        return f"Reasoning: scripted.\n```json\n{json.dumps(line)}\n```"

    def replies(self, request: Request) -> str:
        text = "\n".join(message.content for message in request.messages)
        assert not re.search(r'is_final_answer|criteria_met|"result"', text)
        self.samplings["sim"].add(sampling(request))
        return str(self.line(text, "sim")[0])


def sampling(request: Request) -> str:
    return repr(request.sampling)


class Said(Candidate):
    """Say what the script has for the candidate, thinking split off as a model client does."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def reply(self, ctx: DialogueContext, messages: Any) -> Reply:
        turn = 1 + sum(message.role == "assistant" for message in messages)
        line, case, turn = self.script.line(messages[0].content, "candidate", turn)
        shown = [{"role": m.role, "content": m.content} for m in messages]
        self.script.candidate_messages.append({"case": case, "turn": turn, "messages": shown})
        thinking, _, text = line.rpartition("</think>")
        tags = f" [[CASE:{case}]][[TURN:{turn}]]"
        return Reply(text=text.strip() + tags, thinking=thinking.removeprefix("<think>"))


def case_of(scenario: dict[str, Any], row: dict[str, Any], place: int) -> Case:
    """Make the case that the dialect makes of a row."""
    evalset = scenario["evalset"]
    params: dict[str, Any] = {
        "max_turns": scenario["options"]["max_turns"],
        "guidance": scenario["options"]["env"].get("GUIDANCE_MODE", "none"),
        "compat": "original",
    }
    hidden: dict[str, Any] = {"question": row["ori_question"]}
    shown, points = row.get("degraded_question"), row.get("required_points", [])
    if evalset == "in3_interaction":
        params["scenario"] = "in3"
        shown = row["ori_question"]
        hidden["vague"] = row["vague"]
        hidden["point_answers"] = [row["required_point_answers"][point] for point in points]
    elif shown is None and "overconfidence_question" in row:
        params["scenario"], shown = "overconfidence", row["overconfidence_question"]
        points = row["misleading_points"]
    elif shown is None:
        params["scenario"], shown = "plain", row["ori_question"]
    if evalset.startswith("fata"):
        params["wrapper"] = "fata"
    hidden |= {"points": points, "info": row.get("degraded_info", row.get("overconfidence_info"))}
    return Case(
        id=str(row.get("id", place)),
        messages=(Message(role="user", content=shown),),
        references=(row["expected_answer"],) if "expected_answer" in row else (),
        criteria=(Criterion(id="correct", scorer=Spec(name="noted")),),
        hidden=hidden,
        dialogue=Spec(name="clarify", params=params),
    )


def held(case: Case, script: Script) -> Attempt:
    dialogue = build("dialogue", case.dialogue)
    assert not list(dialogue.problems(case))
    ctx = DialogueContext(
        case=case,
        index=0,
        candidate=Said(script),
        judge=ModelJudge(model=ScriptedModel(script.rules)),
        simulator=ScriptedModel(script.replies),
        simulator_sampling=Sampling(temperature=0.9),
    )
    attempt: Attempt = run_sync(dialogue.hold(ctx))
    return attempt


def result_of(case: Case, attempt: Attempt) -> CaseResult:
    """Grade and value an attempt as the engine does."""
    scores = {}
    if attempt.status is AttemptStatus.ANSWERED:
        scorer = build("scorer", case.criteria[0].scorer)
        scores = {"correct": judged(scorer, ScoreContext(case=case, attempt=attempt))}
    unanswered = attempt.status is AttemptStatus.UNANSWERED
    value = null_value(case) if unanswered else value_of(case, scores)
    results = (AttemptResult(attempt=attempt, scores=scores, value=value),)
    return CaseResult(case=case, attempts=results, folded=fold(parse_fold("avg"), [value]))


def replay(scenario: dict[str, Any]) -> tuple[Script, list[CaseResult]]:
    script = Script(scenario["scripts"])
    cases = [case_of(scenario, row, place) for place, row in enumerate(scenario["rows"])]
    return script, [result_of(case, held(case, script)) for case in cases]


@pytest.fixture(scope="module", params=SCENARIOS)
def replayed(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Script, list[CaseResult]]:
    return SCENARIOS[request.param], *replay(SCENARIOS[request.param])


def test_every_case_ends_as_in_the_original(
    replayed: tuple[dict[str, Any], Script, list[CaseResult]],
) -> None:
    scenario, _, results = replayed
    expected = scenario["expected"]["attempts"][0]["per_case"]
    for wanted, result in zip(expected, results, strict=True):
        attempt = result.attempts[0].attempt
        notes = attempt.notes
        found = {
            "correct": notes["correct"],
            "reason": notes["reason"],
            "final_turn": notes["final_turn"],
            "is_final_answer": notes["final"],
            "all_required_points_resolved": notes["resolved"],
            "missing_required_points": notes["missing"],
            "skipped": notes["skipped"],
            "redundant_question_events": notes["redundant"],
            "premature_final_answer": notes["premature"],
            "asked_any_question": notes["asked"],
            "judge_parse_attempts": [turn["tries"] for turn in notes["turns"]],
            "messages": 1 + len(attempt.messages),
        }
        assert {"case": wanted["case"], "id": wanted["id"], **found} == wanted
        status = AttemptStatus.STOPPED if notes["skipped"] else AttemptStatus.ANSWERED
        assert attempt.status is status
        json.dumps(dict(notes))


def test_the_numbers_are_the_originals(
    replayed: tuple[dict[str, Any], Script, list[CaseResult]],
) -> None:
    scenario, _, results = replayed
    metrics = scenario["expected"]["attempts"][0]["metrics"]
    names = {"acc": "accuracy"}
    plain = ("cov_rate", "unq_events")
    for key in ("acc", "ask_rate", "cov_rate", "unq_rate", "unq_events", "score",
                "vague_ask_rate", "clear_direct_rate"):  # fmt: skip
        if key not in metrics:
            continue
        params = {} if key in plain else {"compat": "original"}
        measured = build("measure", Spec(name=names.get(key, key), params=params)).measure(results)
        assert measured.value == pytest.approx(metrics[key], abs=1e-9), key
        if key == "cov_rate":
            assert measured.n == metrics["final_answers"]
        if key in ("acc", "ask_rate", "unq_rate", "score"):
            assert measured.n == metrics["valid"]
            low, high = measured.interval
            assert low <= measured.value <= high
    reasons = build("measure", Spec(name="reasons")).measure(results)
    assert reasons.detail == metrics["reasons"]
    assert reasons.n == metrics["total"]


def test_candidates_are_asked_what_the_original_asks(
    replayed: tuple[dict[str, Any], Script, list[CaseResult]],
) -> None:
    scenario, script, _ = replayed
    texts = {mask: prompts.load(name).text for mask, name in MASKS.items()}

    def filled(entry: dict[str, Any]) -> str:
        text = json.dumps(entry["messages"])
        for mask, words in texts.items():
            text = text.replace(mask, json.dumps(words)[1:-1])
        return text

    wanted = {(e["case"], e["turn"]): filled(e) for e in scenario["requests"]["candidate_messages"]}
    found = {(e["case"], e["turn"]): json.dumps(e["messages"]) for e in script.candidate_messages}
    assert found == wanted


def test_judge_and_simulated_user_are_asked_as_often_and_in_the_way_of_the_original(
    replayed: tuple[dict[str, Any], Script, list[CaseResult]],
) -> None:
    scenario, script, _ = replayed
    for kind, role in (("judge", "judge"), ("sim", "sim")):
        wanted = scenario["requests"]["by_kind"][kind]
        assert sum(n for (_, _, k), n in script.calls.items() if k == role) == wanted["count"]
        params = {k: v for k, v in wanted["params"].items() if k != "model"}
        assert script.samplings[role] == {repr(Sampling(**params))}


def test_the_scenarios_are_there() -> None:
    assert set(SCENARIOS) == {
        "ask_mind", "ask_mind_turns2", "ask_mind_weak", "ask_overconfidence", "fata_math500",
        "in3_interaction", "quest_bench",
    }  # fmt: skip
