"""Mutated suites, answers, replies and expressions: a ProctorError, or nothing; soon, in little memory.

`make test` tries a few hundred altogether, `make full` ten thousand.
"""

import resource
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz_seeds import ANSWERS, KINDS, SEEDS, TOKENS, Seed, mutated
from fuzzing import compute, read_answers, read_reply, read_rounds, read_suite, within
from level import LEVEL

pytestmark = pytest.mark.scaled
TOTAL = LEVEL.of(quick=200, ci=1_500, full=10_000)
MEMORY = 700 * 2**20
"""By how much the process may grow at most, in bytes."""

CHANGES = st.lists(
    st.tuples(
        st.integers(0, KINDS - 1),
        st.integers(0, 65_535),
        st.integers(0, len(TOKENS) - 1),
        st.integers(0, 200),
    ),
    min_size=1,
    max_size=6,
)


def tries(share: float) -> settings:
    return settings(
        max_examples=max(5, round(TOTAL * share)),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(autouse=True)
def in_little_memory() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < MEMORY


@pytest.mark.parametrize("seed", SEEDS, ids=[f"{seed[0]} {seed[1]}" for seed in SEEDS])
@pytest.mark.parametrize("named", [True, False])
def test_what_is_mutated_is_right_before(seed: Seed, named: bool) -> None:
    if named or seed[0] != "colossal":
        assert read_suite(*seed, named=named) > 0
    assert read_answers(ANSWERS) == 3


@tries(0.40)
@given(st.sampled_from(SEEDS), CHANGES, st.integers(0, 3), st.booleans())
def test_suites(
    seed: Seed, changes: list[tuple[int, int, int, int]], which: int, named: bool
) -> None:
    dialect, name, files = seed
    # Mostly the file that is named, at times one of those it needs.
    target = name if which else sorted(files)[changes[0][1] % len(files)]
    with within():
        read_suite(dialect, name, {**files, target: mutated(files[target], changes)}, named=named)


@tries(0.10)
@given(CHANGES, st.sampled_from([".jsonl", ".csv", ".json", ".yaml", ".parquet", ""]))
def test_answers(changes: list[tuple[int, int, int, int]], ending: str) -> None:
    data = b'case,output\none,red\ntwo,"a\n"\n' if ending == ".csv" else ANSWERS
    with within():
        read_answers(mutated(data, changes), ending)


ROUNDS = b"""{"rounds": [{"id": "1", "user_query": "q", "state": "finished", "post_list": [
{"id": "p", "message": "m", "send_from": "Planner", "send_to": "User", "attachment_list": [
{"id": "a", "type": "plan", "content": "c", "extra": null}]}]}]}"""


@tries(0.05)
@given(CHANGES, st.sampled_from([".json", ".jsonl"]))
def test_rounds(changes: list[tuple[int, int, int, int]], ending: str) -> None:
    with within():
        read_rounds(mutated(ROUNDS, changes), ending)


REPLIES = (
    b'Reasoning.\n```json\n{"reason": "so", "result": "correct"}\n```',
    b'{"is_final_answer": true, "is_correct": null, "all_required_points_resolved": false,'
    b' "missing_required_points": ["a"], "notes": ""}',
    b'{"rating": 4, "explanation": "x"}',
    b"Rating: [[4]]",
    b'{"criteria_met": "yes"}',
    b"1",
)


@tries(0.20)
@given(st.sampled_from(REPLIES), CHANGES)
def test_replies(reply: bytes, changes: list[tuple[int, int, int, int]]) -> None:
    with within():
        read_reply(mutated(reply, changes).decode("utf-8", "surrogateescape"))


EXPRESSIONS = (
    b"rate >= 0.6 and accuracy.low > 0.5 or not lang == 'python'",
    b"lang in ['python', 'git'] and tags == 'a'",
    b"-rate * 2 + accuracy / 3 - 1 < nothing",
    b"id not in ('x', 'y') or 1 < rate <= 2",
)
ATOMS = [
    "rate", "accuracy", "accuracy.low", "lang", "tags", "nothing", "id", "1", "0", "1e308", "9" * 300, "'x'", "None",
    "True", "[1, 'a']", "()", "b''", "1j", "...", "f(x)", "lambda: 1", "x.y.z", "9" * 4301,
]  # fmt: skip
BETWEEN = [
    "+", "-", "*", "/", "%", "**", "//", "<", ">", "==", "!=", "in", "not in", "is", "and", "or", "<<", "|", ":=", "if",
]  # fmt: skip


@tries(0.10)
@given(st.sampled_from(EXPRESSIONS), CHANGES)
def test_expressions_that_are_mutated(
    text: bytes, changes: list[tuple[int, int, int, int]]
) -> None:
    with within():
        compute(
            mutated(text, changes).decode("utf-8", "surrogatepass" if not changes else "replace")
        )


FORMS = ["({})", "not {}", "-{}", "[{}]", "{}", "{}.low", "not ({})", "--{}"]
STEPS = st.tuples(st.sampled_from(BETWEEN), st.sampled_from(ATOMS), st.sampled_from(FORMS))


@tries(0.10)
@given(st.sampled_from(ATOMS), st.lists(STEPS, max_size=8), st.integers(0, 3))
def test_expressions_that_are_made(
    first: str, steps: list[tuple[str, str, str]], deep: int
) -> None:
    text = first
    for between, atom, form in steps:
        text = form.format(f"{text} {between} {atom}")
    with within():
        compute("(" * 80 * deep + text + ")" * 80 * deep)
