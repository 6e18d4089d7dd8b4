"""run and show with judges: one, a panel, one that cannot be read, and a dialogue."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Serve = Callable[..., Any]
YES = '{"reason": "because yes", "result": "yes"}'
NO = '{"reason": "because no", "result": "no"}'


def stable(made: Any) -> Any:
    """Return what must be the same in two runs of the same replies."""
    return {name: made[name] for name in ("totals", "measures", "groups", "usage")}


# judges


def rude_to_two(messages: list[Any], body: Any) -> str:
    return NO if "Say two." in messages[-1]["content"] else YES


def test_a_judge(manners: Any, serve: Serve) -> None:
    with serve("Sir.", roles={"judge": rude_to_two}) as server:
        args = ("run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge"))
        made = manners.json(*args, "--cases")
        assert (made["totals"]["score"], made["totals"]["unscored"]) == (2.0, 0)
        roles = made["usage"]["roles"]
        assert (roles["candidate"]["calls"], roles["judge"]["calls"]) == (3, 3)
        assert {body["temperature"] for body in server.asked("judge")} == {0.0}
        assert "temperature" not in server.asked()[0]
        [score] = made["cases"][1]["attempts"][0]["scores"]
        assert (score["points"], score["reason"]) == (0.0, "because no")
        assert score["detail"]["raw"] == [NO]
        short, full = (manners("show", "@last", "two", *more).stdout for more in ((), ("--full",)))
        assert "because no" in short
        assert "judge, reply 1" not in short
        assert f"judge, reply 1: {NO}" in full
        assert stable(manners.json(*args)) == stable(made)
    assert len(server.calls) == 6


@pytest.mark.slow
def test_a_judge_that_cannot_be_read_is_shown_with_all_it_said(manners: Any, serve: Serve) -> None:
    says = {"mistake": "Still not.", "Say two": "I would rather not."}
    script = [("could not be used", says["mistake"]), ("Say two", says["Say two"]), ("", YES)]
    with serve("Sir.", roles={"judge": script}) as server:
        args = ("run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge"))
        made = manners.json(*args, code=3)
        totals = made["totals"]
        assert (totals["score"], totals["full"], totals["unscored"]) == (2.0, 2.0, 1)
        shown = manners("show", "@last", "two").stdout
        assert "judge, reply 1: I would rather not." in shown
        assert "judge, reply 3: Still not." in shown
        assert made["usage"]["roles"]["judge"]["calls"] == 5
        manners.here(*args)
    assert len(server.asked("judge")) == 5 + 3, "the verdict that nobody could read"


def test_equal_answers_are_judged_and_counted_once(manners: Any, serve: Serve) -> None:
    with serve("Sir.", roles={"judge": YES}) as server:
        models = ("--model", server.at(), "--judge", server.at("judge"))
        made = manners.json("run", "suite.yaml", *models, "--attempts", "3")
    assert (made["totals"]["attempts"], made["totals"]["score"]) == (9, 3.0)
    roles = made["usage"]["roles"]
    assert (roles["candidate"]["calls"], roles["judge"]["calls"]) == (9, 3)
    assert (len(server.asked()), len(server.asked("judge"))) == (9, 3)


def test_a_panel_and_how_far_it_agrees(manners: Any, serve: Serve) -> None:
    roles = {"kind": YES, "fair": rude_to_two}
    with serve("Sir.", roles=roles) as server:
        judges = ("--judge", server.at("kind"), "--judge", server.at("fair"))
        args = ("run", "suite.yaml", "--model", server.at(), *judges)
        made = manners.json(*args, "--cases")
        shown = manners("show", "@last", "two", "--full").stdout
    assert "judge:openai:kind,openai:fair|panel:mean" in made["run"]["signature"]
    # 3 cases of two marks: y y, y n, y y; alpha = 1 - 5 * 2 / (2 * 1 * 5)
    assert made["measures"]["agreement"]["value"] == pytest.approx(0.0)
    assert made["measures"]["agreement"]["n"] == 3
    [score] = made["cases"][1]["attempts"][0]["scores"]
    assert [member["points"] for member in score["detail"]["panel"]] == [1.0, 0.0]
    assert made["usage"]["roles"]["judge"]["calls"] == 6
    assert f"judge 1, reply 1: {YES}" in shown
    assert f"judge 2, reply 1: {NO}" in shown


def test_a_judge_may_be_asked_several_times(manners: Any, serve: Serve) -> None:
    def moody(messages: list[Any], body: Any) -> list[str]:
        return [YES, NO, YES]

    with serve("Sir.", roles={"judge": moody}) as server:
        judge = ("--judge", server.at("judge"), "--judge-repeats", "3")
        made = manners.json("run", "suite.yaml", "--model", server.at(), *judge)
        assert made["totals"]["score"] == 3.0
        assert made["usage"]["roles"]["judge"]["calls"] == 9
        assert "judge:openai:judge,x3" in made["run"]["signature"]
        assert made["measures"]["agreement"]["value"] < 0.5
        manners("run", "suite.yaml", "--model", server.at(), *judge)
    assert len(server.asked("judge")) == 9


def test_another_judge_judges_the_stored_answers(manners: Any, serve: Serve) -> None:
    with serve("Sir.", roles={"one": YES, "other": NO}) as server:
        scores = [
            manners.json("run", "suite.yaml", "--model", server.at(), "--judge", server.at(judge))
            for judge in ("one", "other")
        ]
    assert [made["totals"]["score"] for made in scores] == [3.0, 0.0]
    assert (len(server.asked()), len(server.asked("other"))) == (3, 3)


def test_answers_on_file_and_a_judge(manners: Any, serve: Serve) -> None:
    rows = [{"case": name, "output": f"Say {name}."} for name in ("one", "two", "three")]
    manners.answers(rows)
    with serve(roles={"judge": rude_to_two}) as server:
        args = ("run", "suite.yaml", "--answers", "answers.jsonl", "--judge", server.at("judge"))
        assert manners.json(*args)["totals"]["score"] == 2.0
    assert manners.json(*args)["totals"]["score"] == 2.0  # nobody is asked any more
    assert len(server.calls) == 3


# a dialogue


CLARIFY = """\
name: trips
measures: [accuracy, ask_rate, cov_rate]
dialogue: {clarify: {max_turns: 3}}
criteria: {noted: correct}
cases:
  - id: drive
    ask: How long is the drive to Metz?
    references: 2 hours
    hidden:
      question: How long are 160 km at 80 km/h?
      points: [how fast you go]
      point_answers: [80 km/h]
"""


def verdict(final: bool, missing: list[str]) -> str:
    return json.dumps(
        {
            "is_final_answer": final,
            "is_correct": True if final else None,
            "all_required_points_resolved": not missing,
            "missing_required_points": missing,
        }
    )


def test_a_dialogue_turn_by_turn(cli: Any, serve: Serve) -> None:
    cli.write("suite.yaml", CLARIFY)

    def candidate(messages: list[Any], body: Any) -> str:
        return "It takes 2 hours." if len(messages) > 1 else "How fast do you go?"

    def judge(messages: list[Any], body: Any) -> str:
        told = "It takes 2 hours." in messages[-1]["content"]
        return verdict(told, [] if told else ["how fast you go"])

    with serve(candidate, roles={"judge": judge, "user": "At 80 km/h."}) as server:
        partners = ("--judge", server.at("judge"), "--simulator", server.at("user"))
        args = ("run", "suite.yaml", "--model", server.at(), *partners)
        before = cli.json("plan", *args[1:])["usage"]["roles"]
        assert before == {"candidate": [1, 2, 3], "judge": [1, 2, 30], "simulator": [0, 1, 4]}
        made = cli.json(*args)
        assert {name: found["value"] for name, found in made["measures"].items()} == {
            "accuracy": 1.0, "ask_rate": 1.0, "cov_rate": 1.0,
        }  # fmt: skip
        roles = made["usage"]["roles"]
        assert {role: used["calls"] for role, used in roles.items()} == {
            "candidate": 2, "judge": 2, "simulator": 1,
        }  # fmt: skip
        assert stable(cli.json(*args)) == stable(made)
        assert len(server.calls) == 5
        assert cli.json("plan", *args[1:])["usage"]["calls"] == 0
    shown = cli("show", "@last", "drive").stdout
    places = [
        shown.index(text)
        for text in ("How long is the drive", "How fast do you go?", "At 80 km/h.",
                     "It takes 2 hours.", "ended: FinalAnswerEvaluated", "covered at turn")
    ]  # fmt: skip
    assert places == sorted(places)
