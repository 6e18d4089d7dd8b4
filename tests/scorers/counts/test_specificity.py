"""How specific an answer is, by our own count and by Arthur Bench's."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from proctor import ScoreContext
from proctor.core.suite import Case
from proctor.origins.arthur import scorers as arthur_scorers
from proctor.origins.arthur.scorers import (
    ArthurSpecificity,
)
from proctor.scorers.counts.specificity import Specificity, names, rare
from proctor.testing import try_scorer

CASE = Case(id="1", messages=(), criteria=())


knows_words = pytest.mark.skipif(find_spec("wordfreq") is None, reason="wordfreq is not installed")


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
