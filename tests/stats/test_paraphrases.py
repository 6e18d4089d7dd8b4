"""Short questions that ask the same, among many that do not."""

import pytest

from proctor.stats.paraphrases import masked_numbers, paraphrases, templates

SAME = [
    ("What is the capital of France?", "Capital of France?"),
    ("What is the capital of Spain?", "Tell me the capital of Spain."),
    ("Who invented the telephone?", "The telephone was invented by whom?"),
    ("How many legs does a spider have?", "How many legs do spiders have?"),
    ("What is photosynthesis?", "Explain photosynthesis."),
    ("What is 17 + 25?", "17 + 25 = ?"),
    ("Who wrote Hamlet?", "Hamlet: who wrote it?"),
    ("When did the Berlin Wall fall?", "The fall of the Berlin Wall was when?"),
    ("What causes tides?", "Which things cause tides?"),
    ("Translate 'dog' to German", "Translate dog into German, please"),
    ("What is the boiling point of water?", "Give the boiling point of water."),
    ("Where is Mount Everest?", "Where can Mount Everest be found?"),
    ("What is the largest planet?", "Name the largest planet"),
    ("Why is the sky blue?", "Explain why the sky is blue."),
    ("Who painted the Mona Lisa?", "By whom was the Mona Lisa painted?"),
    ("What does HTTP stand for?", "HTTP stands for what?"),
    ("How do vaccines work?", "How does a vaccine work?"),
    ("What is the square root of 144?", "Find the square root of 144."),
    ("Which gas do plants absorb?", "What gas is absorbed by plants?"),
    ("What currency is used in Japan?", "Which currency does Japan use?"),
    ("Is a tomato a fruit?", "A tomato: is it a fruit?"),
    ("What language is spoken in Brazil?", "Which language do they speak in Brazil?"),
    ("How far is the Moon?", "How far away is the Moon from us?"),
    ("Who discovered penicillin?", "Penicillin was discovered by whom?"),
    ("What is an atom made of?", "Atoms are made of what?"),
    ("Define entropy.", "What is entropy?"),
    ("How is glass made?", "Describe how glass is made."),
    ("What is the speed of light?", "State the speed of light"),
    ("List the primary colours", "What are the primary colours?"),
    ("When was Mozart born?", "Mozart was born when?"),
]
"""Pairs that ask the same."""
_COUNTRIES = [
    "Austria",
    "Australia",
    "Norway",
    "Sweden",
    "Denmark",
    "Finland",
    "Iceland",
    "Ireland",
    "Portugal",
    "Italy",
    "Greece",
    "Turkey",
    "Egypt",
    "Kenya",
    "Nigeria",
    "Ghana",
    "Chile",
    "Peru",
    "Brazil",
    "Canada",
    "Mexico",
    "Cuba",
    "India",
    "China",
    "Korea",
    "Vietnam",
    "Thailand",
    "Nepal",
    "Iran",
    "Iraq",
]
_BOOKS = "Emma Dracula Ulysses Frankenstein Middlemarch Persuasion Utopia Candide Faust Walden"
_ELEMENTS = [
    "gold",
    "silver",
    "iron",
    "copper",
    "tin",
    "lead",
    "zinc",
    "sodium",
    "potassium",
    "helium",
    "neon",
    "argon",
]
DISTINCT = [
    *(f"What is the capital of {country}?" for country in _COUNTRIES),
    *(f"Which language is spoken in {country}?" for country in _COUNTRIES[:10]),
    *(f"Who wrote {book}?" for book in _BOOKS.split()),
    *(f"When was {book} published?" for book in _BOOKS.split()),
    *(f"What is the chemical symbol for {element}?" for element in _ELEMENTS),
    *(f"What is the melting point of {element}?" for element in _ELEMENTS),
    *(f"What is {one} + {other}?" for one in range(11, 16) for other in range(21, 25)),
    *(f"How many minutes are there in {hours} hours?" for hours in range(2, 8)),
    *(f"Translate '{word}' to French" for word in ["cat", "bird", "tree", "house", "water", "bread"]),
    "Who invented the radio?", "When was the radio invented?", "Where was the radio invented?",
    "Is Venus hotter than Earth?", "Is Venus not hotter than Earth?", "How old is the Earth?",
    "Why do cats purr?", "How do cats purr?", "Do cats like milk?", "Do dogs like milk?",
    "What is 5 - 12?", "What is 12 - 5?", "Sort a list", "Reverse a list", "Sort a string",
]  # fmt: skip
"""Questions of which none asks the same as another, many of them alike in their wording."""


def test_what_asks_the_same_is_found_and_nothing_else_is() -> None:
    """At least four of five pairs, and no false alarm among all the others."""
    texts = [*DISTINCT, *(text for pair in SAME for text in pair)]
    start = len(DISTINCT)
    groups = paraphrases(texts)
    pairs = {(start + 2 * number, start + 2 * number + 1) for number in range(len(SAME))}
    found = {tuple(group) for group in groups}
    assert [[texts[place] for place in group] for group in found - pairs] == []
    assert len(found & pairs) >= 0.8 * len(SAME), [texts[one] for one, _ in pairs - found]


def test_distinct_questions_raise_no_alarm_by_themselves() -> None:
    assert paraphrases(DISTINCT) == []


@pytest.mark.parametrize(
    ("texts", "groups"),
    [
        ([], []),
        (["", "?", "the"], []),
        (["Is Paris in France?", "Is Paris not in France?"], []),
        (["Who won?", "When did they win?"], []),
        (["What is 17 + 25?", "17 + 25", "What is 25 + 17?", "17 - 25"], [[0, 1]]),
        (["法国的首都是哪里", "哪里是法国的首都", "德国的首都是哪里"], [[0, 1]]),
        (["word " * 21, "word " * 22], []),  # long: compared by sequences of words
    ],
)
def test_groups(texts: list[str], groups: list[list[int]]) -> None:
    assert paraphrases(texts) == groups


def test_a_word_in_very_many_texts_brings_none_together() -> None:
    texts = [f"report {number:03}" for number in range(150)] + ["report", "the report"]
    assert paraphrases(texts) == []


@pytest.mark.parametrize(
    ("texts", "groups"),
    [
        (["How many minutes are in 2 hours?", "How many minutes are in 30 hours?"], []),
        ([f"How many minutes are in {n} hours?" for n in (2, 3.5, 40)], [[0, 1, 2]]),
        (["1 + 2", "3 + 4", "5 + 6"], []),  # no words at all
        (["Take 3.", "take  3.", "TAKE 3."], []),  # the same text
        (["a 1", "b 1", "a 2", "b 2", "a 3", "b 3", "b 4"], [[1, 3, 5, 6], [0, 2, 4]]),
    ],
)
def test_templates(texts: list[str], groups: list[list[int]]) -> None:
    assert templates(texts) == groups


def test_numbers_are_masked_whole() -> None:
    assert masked_numbers("Pay 1,000.50  for 3 Apples") == "pay # for # apples"
