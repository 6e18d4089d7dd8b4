"""Sentences by rules, which agree with Punkt on ordinary prose."""

import pytest

from proctor.scorers.embedding import sentences

# What NLTK 3.10's Punkt makes of these.
TEXTS = [
    ("", []),
    ("   ", []),
    ("One sentence only", ["One sentence only"]),
    ("Line one\nline two without stop", ["Line one\nline two without stop"]),
    ("One.\nTwo.", ["One.", "Two."]),
    ("Trailing.   ", ["Trailing."]),
    ("  Leading. two", ["  Leading.", "two"]),
    (
        "The cat sat. The dog ran! Is it Mr. Smith?",
        ["The cat sat.", "The dog ran!", "Is it Mr. Smith?"],
    ),
    ("Wow!! Great stuff here.", ["Wow!!", "Great stuff here."]),
    ("What?! No way.", ["What?!", "No way."]),
    ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
    ("He said “Go.” Then left.", ["He said “Go.”", "Then left."]),
    ("(It was so.) Then he left.", ["(It was so.)", "Then he left."]),
    ('He asked "why?" and left.', ['He asked "why?"', "and left."]),
    ("(See this.)", ["(See this.)"]),
    ("See foo.bar. Yes.", ["See foo.bar.", "Yes."]),
    ("Yes.No more.", ["Yes.No more."]),
    ("It is 3.5. The end.", ["It is 3.5.", "The end."]),
    ("He left in 1990. She came.", ["He left in 1990.", "She came."]),
    ("He left in 1990. she came.", ["He left in 1990. she came."]),
    ("1. First item. 2. Second item.", ["1.", "First item.", "2.", "Second item."]),
    ("Hello... who is there?", ["Hello... who is there?"]),
    ("It stopped... However, he went on.", ["It stopped...", "However, he went on."]),
    ("at 5 p.m. on Monday", ["at 5 p.m. on Monday"]),
    ("at 5 p.m. He left.", ["at 5 p.m.", "He left."]),
    ("the U.S. Senate met in Washington, D.C. on Monday.",) * 2,
    ("He works for Acme Inc. They pay well.", ["He works for Acme Inc.", "They pay well."]),
    ("Smith Jr. went home.", ["Smith Jr. went home."]),
    ("It was written by J. Smith.", ["It was written by J. Smith."]),
    ("The book is by George R.R. Martin.", ["The book is by George R.R.", "Martin."]),
    # Punkt knows these abbreviations no more than we do.
    ("Use a tool, e.g. this one.", ["Use a tool, e.g.", "this one."]),
    ("End.** Start here.", ["End.", "** Start here."]),
]


def expected(wanted: object) -> object:
    return [wanted] if isinstance(wanted, str) else wanted


@pytest.mark.parametrize(("text", "wanted"), TEXTS)
def test_rules(text: str, wanted: object) -> None:
    assert [s for s in sentences.by_rules(text) if s.strip()] == expected(wanted)


@pytest.mark.parametrize(("text", "wanted"), TEXTS)
def test_punkt_agrees(text: str, wanted: object) -> None:
    punkt = sentences._punkt()
    if punkt is None:
        pytest.skip("NLTK's Punkt is not installed")
    assert [s for s in punkt(text) if s.strip()] == expected(wanted)


@pytest.mark.parametrize(
    "text", ["." * 100_000, ".'" * 50_000, "a." * 50_000, "!)" * 50_000 + "z", "?" + " " * 100_000]
)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    # A rule that looked back and forth would take hours.
    assert len(sentences.by_rules(text)) >= 1


def test_it_is_said_which_splitter_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "_punkt", lambda: None)
    assert sentences.splitter_name() == "sentences by rules"
    monkeypatch.setattr(sentences, "_punkt", lambda: str.split)
    monkeypatch.setattr(sentences, "version", lambda name: "3.9")
    assert sentences.splitter_name() == "nltk 3.9 punkt"
