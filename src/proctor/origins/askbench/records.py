"""What AskBench's own result files say of one attempt."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.run import AttemptResult
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Json, Message
from proctor.judging import prompts
from proctor.origins.askbench.first_fence import first_json

CORRECT = "correct"
SKIPS = ("JudgeJSONParseFailed", "JudgeResultInvalid")
_CHOICE = re.compile(r"([A-D])\) (.*)", re.DOTALL)
_WORD = re.compile(r"\w+")


def case_number(case: Case) -> Json:
    """Return a case's id as its row had it: a whole number where it reads like one."""
    number = case.id.isascii() and case.id.isdigit() and str(int(case.id)) == case.id
    return int(case.id) if number else case.id


def is_skipped(result: AttemptResult) -> bool:
    """Tell whether an attempt counts nowhere."""
    return result.value.status in (ValueStatus.UNSCORED, ValueStatus.ERROR)


def truncation(result: AttemptResult, compat: str) -> str:
    """Say whether the reply was cut off, in the original's words."""
    notes = result.attempt.notes
    finish = str(notes.get("finish", ""))
    if compat:
        return {"": "none", "stop": "not_truncated"}.get(finish, "truncated")
    return "truncated" if notes.get("truncated") else "not_truncated"


def correctness(result: AttemptResult) -> int | None:
    """Return 1 or 0, and none for an attempt that counts nowhere."""
    if is_skipped(result):
        return None
    return int((result.value.value or 0.0) > 0)


def single_record(case: Case, result: AttemptResult, compat: str) -> dict[str, Json]:
    """Make the record of a question that was put once."""
    score = result.scores.get(CORRECT)
    detail = _detail(score)
    skipped = is_skipped(result)
    output = result.attempt.output
    record: dict[str, Json] = {
        "question": case.prompt,
        "response": output,
        "extracted_answer": str(detail.get("extracted") or output.strip()),
        "reference_answer": _reference(case),
        "thinking_process": _thinking(result, compat),
        "truncated": truncation(result, compat),
        "judge": _judge(score, detail, compat),
        "correct": correctness(result),
        "skipped": skipped,
    }
    if skipped:
        record["skip_reason"] = skip_reason(result)
    return record


def summary_record(
    case: Case,
    results: Sequence[AttemptResult],
    compat: str,
    worth: Callable[[AttemptResult], float | None] = correctness,
) -> dict[str, Json]:
    """Make the record of one question over all its attempts, by what each of them is worth."""
    values = [worth(result) for result in results]
    record: dict[str, Json] = {
        "question": _written(case.messages) if worth is not correctness else case.prompt,
        "answer": "" if compat else _reference(case),
        "attempts": [
            {
                "response": result.attempt.output,
                "thinking_process": _thinking(result, compat),
                "truncated": truncation(result, compat),
                "correct": value,
                "attempt_num": number,
            }
            for number, (result, value) in enumerate(zip(results, values, strict=True), 1)
        ],
    }
    if len(results) > 1:
        valid = [value for value in values if value is not None]
        record["pass@1"] = sum(valid) / len(valid) if valid else None
    return record


def skip_reason(result: AttemptResult) -> str:
    """Say in one word why an attempt counts nowhere."""
    if result.attempt.status is AttemptStatus.ERROR:
        return "CandidateError"
    if reason := result.attempt.notes.get("reason"):
        return str(reason)
    score = result.scores.get(CORRECT)
    word = _WORD.match(score.reason) if score is not None else None
    return word[0] if word is not None and word[0] in SKIPS else "NotJudged"


def rubric_record(case: Case, result: AttemptResult, compat: str) -> dict[str, Json]:
    """Make the record of a conversation that was held against criteria."""
    items = [
        _rubric(c.scorer.params, c.weight, result.scores.get(c.id), compat) for c in case.criteria
    ]
    weights = [criterion.weight for criterion in case.criteria]
    positive = sum(weight for weight in weights if weight > 0)
    whole = positive or sum(abs(weight) for weight in weights) or 1.0
    raw = sum(item["points"] for item in items if item.get("criteria_met"))
    normal: float | None = min(1.0, max(0.0, raw / whole))
    if not compat:
        normal = None if is_skipped(result) else result.value.value
    reply = Message(role="assistant", content=result.attempt.output)
    conversation = (*case.messages, reply)
    return {
        "id": case_number(case),
        "canary": case.hidden.get("canary"),
        "conversation": _written(conversation),
        "conversation_text": "\n".join(
            f"{message.role}: {message.content}" for message in conversation
        ),
        "assistant_response": result.attempt.output,
        "thinking_process": _thinking(result, compat),
        "truncated": truncation(result, compat),
        "rubrics": items,
        "raw_score": raw,
        "positive_total": positive,
        "denominator_used": whole,
        "normalized_score": normal,
        "valid_rubric_count": sum(item.get("criteria_met") is not None for item in items),
        "total_rubric_count": len(items),
    }


def rubric_score(record: Mapping[str, Json], compat: str) -> float | None:
    """Return what a record counts; none where the original leaves the conversation out."""
    if compat and not record["valid_rubric_count"]:
        return None
    value: float | None = record["normalized_score"]
    return value


def dialogue_record(
    case: Case, result: AttemptResult, language: str = "en", compat: str = ""
) -> dict[str, Json]:
    """Make the record of a dialogue of several turns."""
    attempt, notes = result.attempt, result.attempt.notes
    case = _as_put(case, language)
    points = case.hidden.get("points", [])
    record: dict[str, Json] = {
        "id": case_number(case),
        "correct": notes.get("correct"),
        "reason": notes.get("reason") or skip_reason(result),
        "final_turn": notes.get("final_turn"),
        "conversation_history": _written((*case.messages, *attempt.messages)),
        "ground_truth_answer": case.references[0] if case.references else None,
        "turn_logs": [_turn(case, result, number, compat) for number in range(len(_turns(result)))],
        "is_final_answer": bool(notes.get("final")),
        "missing_required_points": notes.get("missing", []),
        "all_required_points_resolved": notes.get("resolved"),
        "required_points": points,
        "skipped": is_skipped(result),
        "behavior_metrics": {
            "redundant_question_events": notes.get("redundant", 0),
            "premature_final_answer": bool(notes.get("premature")),
            "asked_any_question": bool(notes.get("asked")),
        },
    }
    if isinstance(ledger := notes.get("ledger"), Mapping):
        record["required_points_first_covered"] = ledger.get("first", [])
    if notes.get("flags"):
        record["simulator_flags"] = notes["flags"]
    if "vague" in case.hidden:
        record["metadata"] = {"vague": case.hidden["vague"]}
    return record


def _as_put(case: Case, language: str) -> Case:
    """Return a case with the request that FATA puts around its question."""
    if case.dialogue.name != "fata" and case.dialogue.params.get("wrapper") != "fata":
        return case
    messages = list(case.messages)
    first = next((place for place, message in enumerate(messages) if message.role == "user"), None)
    if first is not None:
        own = {
            "question": messages[first].content,
            "guidance": prompts.load("fata_guidance", language).text,
        }
        request = prompts.load("fata_request", language).fill(own)
        messages[first] = replace(messages[first], content=request)
    return replace(case, messages=tuple(messages))


def _turn(case: Case, result: AttemptResult, number: int, compat: str) -> dict[str, Json]:
    turn = _turns(result)[number]
    replies = [place for place, m in enumerate(result.attempt.messages) if m.role == "assistant"]
    end = replies[number] + 1 if number < len(replies) else len(result.attempt.messages)
    raw = turn.get("raw") or [""]
    record: dict[str, Json] = {
        "turn": turn.get("turn", number + 1),
        "conversation_at_turn": _written((*case.messages, *result.attempt.messages[:end])),
        "judge_decision": _completed(case, turn.get("verdict")) if compat else turn.get("verdict"),
        "judge_raw_response": raw[-1],
        "judge_parse_attempts": turn.get("tries", 0),
        "judge_parse_success": turn.get("verdict") is not None,
    }
    ledger = result.attempt.notes.get("ledger")
    covered = ledger.get("covered", []) if isinstance(ledger, Mapping) else []
    if number < len(covered):
        points = ledger.get("points", []) if isinstance(ledger, Mapping) else []
        record["covered_required_points"] = [
            point for point, done in zip(points, covered[number], strict=False) if done
        ]
    if "user" in turn:
        record["simulated_user_response"] = turn["user"]
    return record


def _completed(case: Case, verdict: Json) -> Json:
    """Return a ruling with what the original puts in where the judge left it out."""
    if not isinstance(verdict, Mapping):
        return verdict
    written = verdict.get("missing_required_points")
    missing = written if isinstance(written, list) else []
    flag = verdict.get("all_required_points_resolved")
    resolved = flag if isinstance(flag, bool) else not (case.hidden.get("points") and missing)
    return {
        **verdict,
        "missing_required_points": missing,
        "all_required_points_resolved": resolved,
    }


def _turns(result: AttemptResult) -> Sequence[Mapping[str, Json]]:
    turns = result.attempt.notes.get("turns", [])
    return turns if isinstance(turns, list | tuple) else []


def _rubric(
    params: Mapping[str, Json], points: float, score: Score | None, compat: str
) -> dict[str, Json]:
    detail = _detail(score)
    raw = detail.get("raw") or [""]
    scored = score is not None and score.status is ScoreStatus.SCORED
    valid = scored and detail.get("valid", True)
    decision = first_json(raw[-1]) if compat and not valid else None
    record: dict[str, Json] = {
        "criterion": params.get("criterion", ""),
        "points": points,
        "grader_raw_response": raw[-1],
        "grader_parse_attempts": detail.get("tries", len(detail.get("raw") or [])),
        "grader_parse_success": bool(valid or decision),
    }
    if valid and score is not None:
        record["criteria_met"] = bool(score.points)
        record["explanation"] = str(detail.get("explanation") or score.reason)
    elif isinstance(decision, dict) and decision:
        record["criteria_met"] = None
        record["explanation"] = decision.get("explanation")
    return record


def _judge(score: Score | None, detail: Mapping[str, Json], compat: str) -> dict[str, Json]:
    raw = detail.get("raw") or []
    scored = score is not None and score.status is ScoreStatus.SCORED
    invalid = score is not None and score.reason.startswith("JudgeResultInvalid")
    decision: Json = None
    if compat and raw and (scored or invalid):
        decision = first_json(raw[-1])
    elif scored and score is not None:
        word = detail.get("result", "correct" if score.points else "incorrect")
        decision = {"reason": detail.get("reason", score.reason), "result": word}
    return {
        "decision": decision,
        "raw_response": raw[-1] if raw else "",
        "parse_attempts": detail.get("tries", len(raw)),
        "parse_success": scored or invalid,
    }


def _reference(case: Case) -> Json:
    reference = case.references[0] if case.references else ""
    choices = any(criterion.scorer.params.get("choices") for criterion in case.criteria)
    if choices and (choice := _CHOICE.fullmatch(reference)) is not None:
        return {"letter": choice[1], "text": choice[2]}
    return reference


def _thinking(result: AttemptResult, compat: str) -> str:
    """Return what was thought; the original leaves the tags around it."""
    replies = [message for message in result.attempt.messages if message.role == "assistant"]
    noted = str(result.attempt.notes.get("thinking", ""))
    thinking = replies[-1].thinking if replies else noted
    if not thinking:
        return "none"
    return f"<think>{thinking}</think>" if compat else thinking


def _written(messages: Sequence[Message]) -> list[dict[str, Json]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _detail(score: Score | None) -> Mapping[str, Json]:
    detail = score.detail if score is not None else None
    return detail if isinstance(detail, Mapping) else {}
