"""What Arthur Bench scores by, as the document has it: readability, counts, specificity, hedging."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proctor import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case
from proctor.origins.arthur import scorers as arthur_scorers
from proctor.origins.arthur.scorers import (
    ArthurExactMatch,
    ArthurHedgingLanguage,
    ArthurReadability,
    ArthurSpecificity,
    ArthurWordCountMatch,
)
from proctor.scorers.counts.readability import Readability, reading_ease
from proctor.scorers.counts.specificity import Specificity, names, rare
from proctor.scorers.counts.tokenise import sentences, words
from proctor.scorers.counts.word_count import WordCountMatch
from proctor.scorers.embedding.bert_similarity import BertSimilarity
from proctor.scorers.embedding.hedging import HedgingLanguage
from proctor.scorers.text.comparisons import ExactMatch
from proctor.testing import try_scorer

CASE = Case(id="1", messages=(), criteria=())
TINY = Path(__file__).resolve().parents[1] / "golden" / "colossal_tinybert"
hyphenates = pytest.mark.skipif(find_spec("pyphen") is None, reason="pyphen is not installed")
knows_words = pytest.mark.skipif(find_spec("wordfreq") is None, reason="wordfreq is not installed")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("one two", 2),
        ("don't well-known", 2),
        ("a - b", 2),
        ("我们去北京大学", 3),
        ("我们use Python很多", 4),
        ("こんにちは", 5),
        ("привет мир", 2),
        ("。。。", 0),
    ],
)
def test_words(text: str, count: int) -> None:
    pytest.importorskip("rjieba" if find_spec("rjieba") else "jieba")
    assert len(words(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 1), ("Hi. I am here now. Yes.", 1), ("我们今天去北京。他们明天去上海！好。", 2)],
)
def test_sentences(text: str, count: int) -> None:
    assert sentences(text) == count


@pytest.mark.parametrize(
    ("reference", "output", "compat", "points"),
    [
        ("one two three four", "one two three", "", 0.75),
        ("one two", "one two three four", "", 0.0),
        ("one two", "one two three four five", "", 0.0),
        ("", "", "", 1.0),
        ("", "", "original", None),
        ("", "word", "", 0.0),
        ("", "word", "original", 0.0),
    ],
)
def test_word_counts(reference: str, output: str, compat: Any, points: float | None) -> None:
    ctx = ScoreContext.of(output, references=[reference])
    assert try_scorer((ArthurWordCountMatch if compat else WordCountMatch)(), ctx).points == points


def test_counts_need_a_reference() -> None:
    for scorer in (WordCountMatch(), BertSimilarity()):
        assert try_scorer(scorer, ScoreContext.of("x")).status is ScoreStatus.FAILED


def test_the_formula_of_flesch() -> None:
    assert reading_ease(100, 5, 150) == round(206.835 - 1.015 * 20 - 84.6 * 1.5, 2)
    assert reading_ease(7, 3, 10) != reading_ease(7, 3, 10, rounded=True)
    assert reading_ease(0, 1, 0, rounded=True) == 206.84


@hyphenates
@pytest.mark.parametrize("counts", [False, True])
def test_readability(counts: bool) -> None:
    easy = try_scorer(Readability(counts=counts), ScoreContext.of("The cat sat on the mat."))
    hard = try_scorer(
        Readability(counts=counts),
        ScoreContext.of("Institutional accountability necessitates comprehensive documentation."),
    )
    assert easy.points is not None
    assert hard.points is not None
    assert easy.points > 90 > 10 > hard.points
    assert easy.out_of == (100.0 if counts else None)


@hyphenates
def test_readability_of_chinese_and_of_nothing() -> None:
    chinese = "我们今天去北京大学看朋友。他们明天要去上海工作。"
    new = try_scorer(Readability(), ScoreContext.of(chinese))
    assert new.detail["sentences"] == 2
    assert new.detail["words"] > 8
    assert try_scorer(Readability(), ScoreContext.of("?!")).status is ScoreStatus.FAILED
    assert try_scorer(ArthurReadability(), ScoreContext.of("?!")).points == 206.84


@pytest.mark.parametrize(
    ("ignore_case", "compat", "points"),
    [(False, "", 0.0), (True, "", 1.0), (True, "original", 0.0)],
)
def test_lower_case_is_not_casefold(ignore_case: bool, compat: Any, points: float) -> None:
    kind = ArthurExactMatch if compat else ExactMatch
    scorer = kind(ignore_case=ignore_case, strip=False)
    assert try_scorer(scorer, ScoreContext.of("STRASSE", references=["straße"])).points == points


@knows_words
@pytest.mark.parametrize(
    ("text", "new", "old"),
    [
        ("alpha beta gamma delta", 1.0, 1.0),
        ("something happened in the old town today again", 1.0, 0.375),
        ("almost all of them went there in the end", 4 / 9, 0.0),
    ],
)
def test_vague_words(text: str, new: float, old: float) -> None:
    for scorer, share in ((Specificity(), new), (ArthurSpecificity(), old)):
        made = try_scorer(scorer, ScoreContext.of(text))
        assert made.detail["not_vague"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The cat sat.", 0),
        ("I met Ada Lovelace in London on 10 December 1815.", 6),
        ("Yes. Paris is nice, and I'm glad.", 0),
        ("NASA flew in 1969.", 2),
        ("", 0),
    ],
)
def test_names_and_numbers(text: str, count: int) -> None:
    assert names(text) == count


@knows_words
def test_specificity() -> None:
    vague = try_scorer(Specificity(), ScoreContext.of("It may be about some good thing."))
    exact = try_scorer(
        Specificity(), ScoreContext.of("Ada Lovelace published her algorithm in 1843.")
    )
    assert vague.points is not None
    assert exact.points is not None
    assert 0 <= vague.points < exact.points <= 0.99
    assert try_scorer(Specificity(), ScoreContext.of("…")).points == 0.0
    assert try_scorer(ArthurSpecificity(), ScoreContext.of("…")).points is None


EVENING = "Saw films in a cold theatre. Light and sound were good!"


@pytest.fixture
def tagger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give NLTK data of our own: a tagger that takes openings of sentences for names."""
    nltk = pytest.importorskip("nltk")
    home = tmp_path / "taggers" / "averaged_perceptron_tagger_eng"
    home.mkdir(parents=True)
    tags = {"Saw": "NNP", "Light": "NNP", "3": "CD"}
    for name, content in (
        ("weights", {"bias": {"NN": 1.0}}),
        ("tagdict", tags),
        ("classes", ["NN", "NNP", "CD"]),
    ):
        path = home / f"averaged_perceptron_tagger_eng.{name}.json"
        path.write_text(json.dumps(content))
    punkt = tmp_path / "tokenizers" / "punkt_tab" / "english"
    punkt.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (punkt / name).write_text("")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    arthur_scorers._tagger.cache_clear()
    yield
    arthur_scorers._tagger.cache_clear()


@knows_words
@pytest.mark.usefixtures("tagger")
def test_specificity_is_arthur_benchs_where_its_tagger_is() -> None:
    scorer = ArthurSpecificity()
    made = try_scorer(scorer, ScoreContext.of(EVENING))
    # Two names in eleven words, of which one is vague; the rule finds no name.
    parts = 6 / 11 + rare(EVENING) + 10 / 11
    assert made.points == pytest.approx(0.33 * parts)
    by_rule = try_scorer(Specificity(), ScoreContext.of(EVENING))
    assert by_rule.detail["named"] == 0.0
    assert "rule" not in made.reason
    assert "nltk" in scorer.toolchain()
    assert list(scorer.doubts(CASE)) == []
    assert "nltk" not in Specificity().toolchain()
    assert arthur_scorers.tagged_names("There were 3 guests.") == 1


@knows_words
def test_specificity_says_where_the_tagger_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [])
    arthur_scorers._tagger.cache_clear()
    scorer = ArthurSpecificity()
    assert "by a rule" in try_scorer(scorer, ScoreContext.of(EVENING)).reason
    assert "averaged_perceptron_tagger_eng" in next(iter(scorer.doubts(CASE)))
    assert list(Specificity().doubts(CASE)) == []
    arthur_scorers._tagger.cache_clear()


@pytest.mark.torch
def test_hedging_is_told_by_a_threshold() -> None:
    sentence = HedgingLanguage().sentence
    scorer = HedgingLanguage(model=str(TINY), threshold=0.99)
    said = try_scorer(scorer, ScoreContext.of(f"{sentence} But the sky is blue."))
    assert (said.points, said.detail["threshold"]) == (1.0, 0.99)
    assert said.detail["value"] == pytest.approx(1.0, abs=1e-4)
    other = try_scorer(scorer, ScoreContext.of("Paris."))
    assert other.points == 0.0
    old = ArthurHedgingLanguage(model=str(TINY))
    assert try_scorer(old, ScoreContext.of("Paris.")).points == other.detail["value"]


@pytest.mark.torch
def test_similarity_leans_on_recall() -> None:
    scorer = BertSimilarity(model=str(TINY))
    made = try_scorer(scorer, ScoreContext.of("the cat sat", references=["the cat sat down"]))
    told = made.detail
    assert made.points == pytest.approx(0.1 * told["precision"] + 0.9 * told["recall"])
    alike = try_scorer(scorer, ScoreContext.of("the cat", references=["a dog", "the cat"]))
    assert alike.points == pytest.approx(1.0, abs=1e-4)


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_it_is_said_what_is_missing() -> None:
    made = try_scorer(HedgingLanguage(), ScoreContext.of("x"))
    assert made.status is ScoreStatus.FAILED
    assert "torch" in made.reason
