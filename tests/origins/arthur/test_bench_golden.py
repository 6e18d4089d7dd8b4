"""The numbers of Arthur Bench itself: every row of the golden file, with ``compat: original``."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proctor import ScoreContext
from proctor.bench import ScoringMethod, TestSuite
from proctor.origins.arthur.scorers import (
    ArthurQaCorrectness,
    ArthurSpecificity,
    ArthurSummaryQuality,
    read_choice,
    read_correct,
)
from proctor.scorers.counts import specificity, tokenise
from proctor.scorers.counts.readability import reading_ease
from proctor.scorers.embedding.bert_similarity import weighted
from proctor.testing import ScriptedJudge, try_scorer

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[2] / "golden" / "bench.json").read_text(encoding="utf-8")
)
hyphenates = pytest.mark.skipif(find_spec("pyphen") is None, reason="pyphen is not installed")
knows_words = pytest.mark.skipif(find_spec("wordfreq") is None, reason="wordfreq is not installed")


def rows(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = GOLDEN[name]
    assert found
    return found


@pytest.mark.parametrize(
    ("key", "method"),
    [
        ("exact_match", "exact_match"),
        (
            "exact_match[case_sensitive=False]",
            ScoringMethod("exact_match", case_sensitive=False),
        ),
        pytest.param("readability", "readability", marks=hyphenates),
        ("word_count_match", "word_count_match"),
    ],
)
def test_runs_of_the_original(key: str, method: Any, tmp_path: Path) -> None:
    given = rows(key)
    suite = TestSuite(
        "golden",
        method,
        input_text_list=[row["input"] for row in given],
        reference_output_list=[row["reference"] for row in given],
        compat="original",
        store=tmp_path / "store.db",
    )
    run = suite.run("first", candidate_output_list=[row["candidate"] for row in given])
    assert run.scores == [row["score"] for row in given]
    names = [None if found is None else found.name for found in run.categories]
    assert names == [row.get("category") for row in given]


@hyphenates
def test_what_readability_counts() -> None:
    for row in rows("_textstat_0.7.3_parts"):
        counts = (
            len(tokenise.spaced_words(row["text"])),
            tokenise.spaced_sentences(row["text"]),
            tokenise.spaced_syllables(row["text"]),
        )
        assert counts == (row["words"], row["sentences"], row["syllables"]), row["text"]
        assert reading_ease(*counts, rounded=True) == row["flesch_reading_ease"]


@knows_words
@pytest.mark.slow
def test_vague_words_as_the_original_counts_them() -> None:
    for row in rows("specificity.non_vague_part"):
        made = ArthurSpecificity().score(ScoreContext.of(row["candidate"]))
        if row["score"] is None:
            assert made.points is None
        else:
            assert made.detail["not_vague"] == row["score"]


@knows_words
@pytest.mark.slow
def test_rare_words() -> None:
    for row in rows("specificity.word_freq_part"):
        assert specificity.rare(row["candidate"]) == row["score"], row["candidate"]


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("qa_correctness.parse_grader_reply", read_correct),
        ("summary_quality.parse_grader_reply", read_choice),
    ],
)
def test_replies_of_judges(key: str, read: Any) -> None:
    for row in rows(key):
        made = read(row["grader_reply"])
        assert (made.points, made.category) == (row["score"], row["category"]), row


@pytest.mark.parametrize(
    ("key", "scorer"),
    [
        ("qa_correctness.parse_grader_reply", ArthurQaCorrectness()),
        ("summary_quality.parse_grader_reply", ArthurSummaryQuality()),
    ],
)
def test_replies_become_scores(key: str, scorer: Any) -> None:
    for row in rows(key):
        if not row["grader_reply"]:
            continue
        asked = ScoreContext.of("It is.", prompt="Is it?", references=["No."], context=["It is."])
        ctx = ScoreContext(
            case=asked.case, attempt=asked.attempt, judge=ScriptedJudge([row["grader_reply"]])
        )
        assert try_scorer(scorer, ctx).points == row["score"], row


def test_precision_and_recall_are_weighted() -> None:
    for row in rows("bertscore.greedy_match"):
        assert weighted(row["P"], row["R"], 0.1) == pytest.approx(row["bertscore_score"], abs=1e-12)


@pytest.mark.torch
def test_vectors_are_matched_greedily() -> None:
    import torch

    from proctor.scorers.embedding.greedy_match import _greedy, _Side

    for row in rows("bertscore.greedy_match"):

        def side(vectors: Sequence[Sequence[float]]) -> _Side:
            found = torch.nn.functional.normalize(torch.tensor(vectors).float(), dim=-1)[None]
            counted = torch.ones(1, len(vectors))
            counted[0, 0] = counted[0, -1] = 0.0
            mask = torch.ones(1, len(vectors), dtype=torch.bool)
            return _Side(found, None, mask, counted)

        made = _greedy(side(row["candidate_embeddings"]), side(row["reference_embeddings"]))[0]
        assert made.tolist() == pytest.approx([row["P"], row["R"], row["F"]], abs=1e-6)
