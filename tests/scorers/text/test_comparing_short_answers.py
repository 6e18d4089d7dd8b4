"""Short answers: what is only written otherwise is the same, and nothing else is."""

from typing import Any

import pytest

from proctor import ScoreContext
from proctor.origins.arthur.scorers import ArthurExactMatch
from proctor.scorers.text.comparisons import Contains, ExactMatch, TokenF1, normalised

SAME = [
    ("Mercury", "Mercury."), ("mercury", "Mercury"), ("MERCURY", "Mercury"), ("Mercury!", "Mercury"),
    (" Mercury \n", "Mercury"), ("Mercury...", "Mercury"), ("Mercury…", "Mercury"), ("Mercury,", "Mercury"),
    ('"Mercury"', "Mercury"), ("'Mercury'", "Mercury"), ("“Mercury”", "Mercury"), ("‘Mercury’.", "Mercury"),
    ("«Mercury»", "Mercury"), ("„Mercury“", "Mercury"), ("`Mercury`", "Mercury"), ("**Mercury**", "Mercury"),
    ("**Mercury.**", "Mercury"), ("*Mercury*.", "Mercury"), ('"Mercury."', "Mercury"), ('"Mercury".', "Mercury"),
    ("The Nile", "Nile"), ("the nile.", "Nile"), ("Nile", "The Nile"), ("an apple", "apple"), ("A dog", "dog"),
    ("the  Pacific   Ocean", "The Pacific Ocean"), ("Pacific\nOcean", "Pacific Ocean"),
    ("1,000", "1000"), ("1,000,000", "1000000"), ("1,000 km", "1000 km"), ("-1,000", "-1000"), ("1,000.", "1000"),
    ("3.0", "3"), ("3.00", "3"), ("-3.0", "-3"), ("1,000.0", "1000"), ("3.", "3"), ("−5", "-5"),
    ("Ｐａｒｉｓ", "Paris"), ("１２３", "123"), ("１，０００", "1000"), ("３．０", "3"), ("－５", "-5"),
    ("北京。", "北京"), ("北京！", "北京"), ("「北京」", "北京"), ("《红楼梦》", "红楼梦"), ("“北京”。", "北京"),
    ("北京\u3000", "北京"), ("don’t", "don't"), ("C++.", "C++"), ("C#", "c#"), (".NET.", ".net"), ("A", "a"),
    ("B.", "B"), ("'C'", "C"), ("50%.", "50%"), ("$5.", "$5"), ("U.S.", "U.S"), ("cafe\u0301", "café"),
    ("Who wrote it?", "Who wrote it"), ("yes;", "Yes"), ("no:", "No"), ("\ufeffParis", "Paris"), ("the 3 bears", "3 bears"),
]  # fmt: skip
DIFFERENT = [
    ("C", "C++"), ("C", "C#"), ("C++", "C#"), ("NET", ".NET"), ("F", "F#"), ("A", "A+"), ("A+", "A++"), ("A-", "A"),
    ("3", "-3"), ("3", "+3"), ("-3", "+3"), ("5", ".5"), ("0.5", ".5"), ("0.5", "5"), ("05", "5"), ("5", "5%"),
    ("$5", "5"), ("€5", "$5"), ("5°", "5"), ("5'", "5"), ('5"', "5'"), ("1.000", "1000"), ("1,00", "100"),
    ("0,500", "500"), ("1,2,300", "12300"), ("1,2", "12"), ("12,34", "1234"), ("1,0000", "10000"), ("1,000", "1.000"),
    ("3.10", "3.1"), ("3.0.1", "3.1"), ("3.50", "3.5"), ("3.01", "3"), ("3.0", "30"), ("Python 3.0", "Python 3"),
    ("1e3", "1000"), ("1/2", "0.5"), ("½", "1/2"), ("x²", "x2"), ("x₂", "x2"), ("Ⅳ", "IV"), ("①", "1"),
    ("5!", "5"), ("n!", "n"), ("x?", "x"), ("f'", "f"), ("~5", "5"), ("<5", "5"), (">5", "<5"), ("≤5", "5"),
    ("(2,3)", "[2,3]"), ("(2,3)", "2,3"), ("{1}", "1"), ("f(x)", "f(x"), ("*args", "args"), ("**kwargs", "kwargs"),
    ("__init__", "init"), ("_x", "x"), ("#5", "5"), ("@home", "home"), ("&", "and"), ("-v", "v"), ("--help", "help"),
    ("a", ""), ("the", ""), ("an", "a"), ("the", "a"), ("A", "an"), (".", ""), (".", ".."), ("!", "?"), ("", "..."),
    ('""', ""), ("A", "B"), ("a b", "b"), ("A minor", "minor"), ("a priori", "priori"), ("Vitamin A", "Vitamin"),
    ("Plan A", "Plan"), ("Alexander the Great", "Alexander Great"), ("theatre", "atre"), ("another", "other"),
    ("Straße", "Strasse"), ("résumé", "resume"), ("Øre", "Ore"), ("naïve", "naive"), ("ﬁre", "fire"),
    ("H2O", "H20"), ("H2O", "HO"), ("CO2", "CO"), ("not Paris", "Paris"), ("Paris or London", "Paris"), ("Paris", "Pari"),
    ("2020-01-02", "2020-02-01"), ("10:30", "1030"), ("e.g.", "eg"), ("co-op", "coop"), ("it's", "its"), ("re-sign", "resign"),
    ("北京", "南京"), ("一", "二"), ("不是", "是"), ("Mercury, Venus", "Mercury Venus"), ("x=5", "x5"), ("a.b", "ab"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "reference"), SAME)
def test_the_same_answer_written_otherwise(answer: str, reference: str) -> None:
    assert points(ExactMatch(), answer, reference) == 1.0
    assert points(ExactMatch(), reference, answer) == 1.0


@pytest.mark.parametrize(("answer", "reference"), DIFFERENT)
def test_another_answer(answer: str, reference: str) -> None:
    assert points(ExactMatch(), answer, reference) == 0.0
    assert points(ExactMatch(), reference, answer) == 0.0


def test_there_are_enough_pairs() -> None:
    assert len(SAME) >= 60
    assert len(DIFFERENT) >= 100


@pytest.mark.parametrize("text", ["a", "the", "...", "!", '""', "“”", "*", "。", "-", "A", "The The", "**", "''"])  # fmt: skip
def test_nothing_is_emptied(text: str) -> None:
    assert normalised(text)


@pytest.mark.parametrize(
    ("scorer", "answer", "hit"),
    [
        (ExactMatch(strict=True), "mercury", False),
        (ExactMatch(strict=True), "Mercury.", False),
        (ExactMatch(strict=True), " Mercury ", True),
        (ExactMatch(strict=True, ignore_case=True), "mercury", True),
        (ExactMatch(strict=True, strip=False), " Mercury", False),
        (ExactMatch(strip=False), "mercury", False),
        (ExactMatch(strip=False), "Mercury", True),
        (ArthurExactMatch(), "Mercury.", False),
    ],
)
def test_every_character_counts_on_demand(scorer: ExactMatch, answer: str, hit: bool) -> None:
    assert points(scorer, answer, "Mercury") == float(hit)


def test_a_miss_says_whether_the_reference_is_in_the_answer() -> None:
    score = ExactMatch().score(context("It is Mercury.", "Mercury"))
    assert score.reason == "is not 'Mercury', but contains it"
    assert score.detail == {"reference": "contained"}
    assert ExactMatch().score(context("Venus", "Mercury")).detail == {"reference": "absent"}


CONTAINED = [
    ("The capital of France is Paris.", "Paris", True),
    ("it is paris", "Paris", True),
    ("Answer: 1,000 metres", "1000", True),
    ("首都是北京。", "北京", True),
    ("We use C++ here.", "C++", True),
    ("the Cartesian plane", "art", False),
    ("It is 42.5 in all", "42", False),
    ("It is 142 in all", "42", False),
    ("It is -5", "5", False),
    ("We use C++ here.", "C", False),
    ("It is 5.", "5", True),
    ("London", "Paris", False),
]


@pytest.mark.parametrize(("answer", "reference", "hit"), CONTAINED)
def test_an_answer_that_contains_a_reference(answer: str, reference: str, hit: bool) -> None:
    assert points(Contains(any="references"), answer, reference) == float(hit)


def test_any_and_all_references() -> None:
    answer = "red and green"
    assert points(Contains(any="references"), answer, "red", "blue") == 1.0
    assert points(Contains(all="references"), answer, "red", "blue") == 0.0
    assert points(Contains(all="references"), answer, "red", "green") == 1.0
    assert Contains(any="references").score(context(answer)).points is None
    assert list(Contains(texts=("x",), any="references").problems())


@pytest.mark.parametrize(
    ("answer", "reference", "f1"),
    [
        ("The cat sat.", "a cat sat", 1.0),
        ("a black cat", "black dog", 0.5),
        ("北京是首都", "首都北京", 8 / 9),
        ("-3.5 km", "3.5 km", 0.5),
        ("1,000", "1000", 1.0),
        ("C++", "C", 0.0),
        ("", "cat", 0.0),
        ("the", "the", 1.0),
    ],
)
def test_token_f1_counts(answer: str, reference: str, f1: float) -> None:
    score = TokenF1().score(context(answer, reference))
    assert score.points == pytest.approx(f1)
    assert score.out_of == 1.0


def test_the_best_reference_counts() -> None:
    assert points(TokenF1(), "red fox", "blue whale", "red fox") == 1.0


def context(answer: str, *references: str) -> ScoreContext:
    return ScoreContext.of(answer, references=references)


def points(scorer: Any, answer: str, *references: str) -> float:
    value: float = scorer.score(context(answer, *references)).points
    return value
