"""Scorers of retrieval pipelines: planted faults, formulas, and what is left unscored."""

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.fingerprint import digest
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Spec
from proctor.errors import JudgeError
from proctor.formats.native.answers import read_answers
from proctor.formats.native.dialect import Native
from proctor.registry import build
from proctor.scorers.judged.rag import (
    AnswerRelevance,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    Faithfulness,
    NoiseSensitivity,
)
from proctor.testing import ScriptedJudge, try_scorer
from scorers.judged.word_judge import EXAMPLE, word_judge

OWN = {
    "faithfulness": {"unsupported", "contradicted"},
    "answer_relevance": {"off_topic"},
    "context_precision": {"irrelevant"},
    "context_relevance": {"irrelevant"},
    "context_recall": {"missing"},
    "citations": {"citation"},
    "noise_sensitivity": {"irrelevant"},
    "retrieval": {"missing"},
}
CLAIMS = {"claims": ("A.", "B.", "C.", "D.")}


@cache
def planted() -> list[tuple[str, ScoreContext]]:
    """Return the fault and the context of each case of the example."""
    suite = Native().read(EXAMPLE / "suite.yaml").suite
    attempts = {one.case_id: one for one in read_answers(EXAMPLE / "answers.jsonl", suite)}
    return [
        (case.tags["fault"][0], ScoreContext(case=case, attempt=attempts[case.id]))
        for case in suite.cases
    ]


def test_the_example_holds_ten_faults_of_each_kind_and_twenty_sound_answers() -> None:
    counts = Counter(fault for fault, _ in planted())
    kinds = set().union(*OWN.values())
    assert counts == {"none": 20, **dict.fromkeys(kinds, 10)}


@pytest.mark.parametrize("name", OWN)
def test_a_scorer_finds_its_own_faults_and_accuses_no_sound_answer(name: str) -> None:
    judge, _ = word_judge()
    scorer = build("scorer", Spec(name=name))
    accused: Counter[str] = Counter()
    for fault, ctx in planted():
        score = try_scorer(scorer, replace(ctx, judge=judge))
        assert score.status is ScoreStatus.SCORED, score.reason
        assert score.points is not None
        accused[fault] += score.points < 1
        if name != "retrieval":
            assert score.detail["usage"]["calls"] == scorer.verdicts
    assert accused["none"] <= 1
    for fault in OWN[name]:
        assert accused[fault] >= 9, (fault, accused)


def test_scorers_share_what_they_ask() -> None:
    ctx = next(ctx for fault, ctx in planted() if fault == "unsupported")
    judge, model = word_judge()
    for name in OWN:
        try_scorer(build("scorer", Spec(name=name)), replace(ctx, judge=judge))
    different = {digest(request.addressed) for request in model.requests}
    assert (len(model.requests), len(different)) == (13, 9)


def context(
    *passages: str, judge: Any = None, references: tuple[str, ...] = ("R.",)
) -> ScoreContext:
    ctx = ScoreContext.of("A. B. C. D.", prompt="Q?", references=references, context=passages)
    return replace(ctx, judge=judge)


def rulings(*results: str, passages: Any = None) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        {"number": number, "result": result, "reason": f"r{number}"}
        for number, result in enumerate(results, 1)
    ]
    for row, named in zip(rows, passages or (), strict=False):
        row["passages"] = named
    return {"rulings": rows}


def scored(scorer: Scorer, *lines: Any, passages: tuple[str, ...] = ("P1", "P2", "P3")) -> Score:
    return try_scorer(scorer, context(*passages, judge=ScriptedJudge(lines)))


@pytest.mark.parametrize(
    ("scorer", "lines", "points", "reason"),
    [
        (
            Faithfulness(),
            [CLAIMS, rulings("supported", "contradicted", "not said", "supported")],
            0.5,
            "2 of 4 claims are supported; contradicted: “B.”; not said: “C.”",
        ),
        (Faithfulness(), [{"claims": ()}], 1.0, "the answer claims nothing"),
        (
            AnswerRelevance(),
            [CLAIMS, rulings("relevant", "irrelevant", "irrelevant", "irrelevant")],
            0.25,
            "1 of 4 claims answer the question; irrelevant: “B.”, “C.” and 1 more",
        ),
        (AnswerRelevance(), [{"claims": (" ",)}], 0.0, "the answer claims nothing, so it answers nothing"),
        (
            ContextPrecision(),
            [rulings("useless", "useful", "useful")],
            (1 / 2 + 2 / 3) / 2,
            "2 of 3 passages are useful: 2, 3",
        ),
        (ContextPrecision(), [rulings("useful", "useless", "useless")], 1.0, "1 of 3 passages are useful: 1"),
        (ContextPrecision(), [rulings("useless", "useless", "useless")], 0.0, "no passage is useful"),
        (
            ContextRelevance(),
            [rulings("relevant", "irrelevant", "relevant")],
            2 / 3,
            "2 of 3 passages are relevant; irrelevant: “P2”",
        ),
        (
            ContextRecall(),
            [CLAIMS, rulings("supported", "supported", "supported", "not said")],
            0.75,
            "3 of 4 claims of the reference are in the passages; not said: “D.”",
        ),
        (
            NoiseSensitivity(),
            [
                CLAIMS,
                rulings("supported", "supported", "supported", "not said", passages=[[1], [2], [1, 2], []]),
                rulings("useful", "useless", "useless"),
                rulings("not said", "contradicts", "not said", "not said"),
            ],
            0.75,
            "1 of 4 claims are errors taken from passages: “B.”",
        ),
        (
            NoiseSensitivity(source="any"),
            [
                CLAIMS,
                rulings("supported", "supported", "supported", "not said", passages=[[1], [2], [1, 2], []]),
                rulings("useful", "useless", "useless"),
                rulings("agrees", "contradicts", "not said", "not said"),
            ],
            0.5,
            "2 of 4 claims are errors taken from passages: “B.”, “C.”",
        ),
        (NoiseSensitivity(), [{"claims": ()}], 1.0, "the answer claims nothing"),
    ],
)  # fmt: skip
def test_points_follow_from_the_rulings(
    scorer: Scorer, lines: list[Any], points: float, reason: str
) -> None:
    score = scored(scorer, *lines)
    assert score.points == pytest.approx(points)
    assert (score.out_of, score.reason) == (1.0, reason)
    assert score.detail["usage"]["calls"] == len(lines) == len(score.detail["asked"])


def test_the_detail_holds_claims_verdicts_and_passages() -> None:
    ruled = rulings(
        "supported", "not said", "not said", "contradicted", passages=[[2, 2, 9], [], [], [1]]
    )
    score = scored(Faithfulness(), CLAIMS, ruled)
    assert score.detail["claims"][0] == {
        "number": 1, "text": "A.", "result": "supported", "passages": [2], "reason": "r1",
    }  # fmt: skip
    assert score.detail["passages"][1] == {"number": 2, "start": "P2"}
    score = scored(ContextPrecision(), rulings("useful", "useless", "useless"))
    assert score.detail["passages"][0] == {
        "number": 1, "start": "P1", "result": "useful", "reason": "r1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scorer", "lines", "known"),
    [
        (Faithfulness(), [JudgeError("unclear", reason="Bad", raw=("x",))], 0),
        (Faithfulness(), [CLAIMS, JudgeError("unclear", reason="Bad", raw=("x",))], 4),
        (ContextRecall(), [CLAIMS, JudgeError("unclear", reason="Bad", raw=("x",))], 4),
        (NoiseSensitivity(), [CLAIMS, rulings(*["supported"] * 4), JudgeError("unclear", reason="Bad", raw=("x",))], 4),
    ],
)  # fmt: skip
def test_where_one_question_stays_open_the_score_fails_and_keeps_what_is_known(
    scorer: Scorer, lines: list[Any], known: int
) -> None:
    score = scored(scorer, *lines)
    assert (score.status, score.out_of) == (ScoreStatus.FAILED, 1.0)
    assert score.reason == "Bad: unclear"
    assert (score.detail["failure"], score.detail["raw"]) == ("Bad", ["x"])
    assert len(score.detail.get("claims", ())) == known
    assert score.detail["usage"].get("calls", 0) == len(lines) - 1


@pytest.mark.parametrize(
    ("scorer", "ctx", "reason"),
    [
        (Faithfulness(), context(), "there is no context to go by"),
        (Faithfulness(), context("P"), "there is no judge to ask"),
        (ContextRelevance(), context(" "), "there is no context to go by"),
        (ContextRecall(), context("P", references=()), "the case has no reference"),
        (ContextPrecision(), context("P", references=(), judge=ScriptedJudge([])), "the case has no reference"),
        (NoiseSensitivity(), context("P", references=()), "the case has no reference"),
        (ContextRecall(), context("P", judge=ScriptedJudge([{"claims": ()}])), "no claim in the reference"),
    ],
)  # fmt: skip
def test_what_keeps_an_answer_from_being_scored_is_said(
    scorer: Scorer, ctx: ScoreContext, reason: str
) -> None:
    score = try_scorer(scorer, ctx)
    assert score.status is ScoreStatus.FAILED
    assert reason in score.reason


def test_the_answers_own_passages_go_first_and_unreadable_ones_are_named() -> None:
    judge = ScriptedJudge([rulings("relevant")])
    ctx = context("of the case", judge=judge)
    own = replace(ctx.attempt, meta={"context": [{"id": "d1", "text": "own"}]})
    score = try_scorer(ContextRelevance(), replace(ctx, attempt=own))
    assert score.detail["passages"][0]["id"] == "d1"
    shown = judge.conversations[0][0].content
    assert "own" in shown
    assert "of the case" not in shown
    bad = replace(ctx, attempt=replace(ctx.attempt, meta={"context": 3}))
    assert "fix: write a text" in try_scorer(ContextRelevance(), bad).reason


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_languages_ask_the_same_of_the_same(language: str) -> None:
    judge, model = word_judge()
    _, ctx = planted()[0]
    for name in OWN:
        scorer = build("scorer", Spec(name=name))
        score = try_scorer(scorer, replace(ctx, judge=judge, language=language))
        assert score.points == 1.0, (name, score.reason)
    shown = model.requests[0].messages[0].content
    assert ("你把一段文字拆成" in shown) is (language == "zh")


def test_no_scorer_asks_without_a_try() -> None:
    for name in OWN:
        if name != "retrieval":
            scorer = build("scorer", Spec(name=name, params={"tries": 0}))
            assert list(scorer.problems()) == ["0 tries: a judge must be asked at least once"]
