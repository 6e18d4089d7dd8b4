"""Native files that are written: exact, readable, and the same suite when read back."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from json_schema import fits
from level import LEVEL
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.errors import SuiteError
from proctor.formats.native.dialect import Native
from proctor.formats.native.schema import suite_schema
from proctor.formats.native.writer import MAX_INLINE, write_native
from proctor.io.yaml_files import read_yaml
from proctor.registry import build

SCHEMA = suite_schema()

TRICKY = [
    "", " ", "  x  ", "yes", "no", "~", "null", "true", "1.0", "0x1F", "1e5", ".5e3", "-", "- a",
    "a: b", "a #b", "#a", "'", '"', "\\", "\\d+\"'", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a",
    "`a`", "|", ">", "?", ":", "a:", "<<", "---", "...", "a\nb", "a\nb\n", "a\nb\n\n", "\na", "\n",
    "  a\nb", "\ta\nb", "a\n  \nb", "a\r\nb", "a\u2028b", "a\x85b", "\ufeffa", "\x07", "\x7f",
    "a \nb ", "中文。", "😀", "a\n---\nb", "a\n...", "\xa0a", "# a\n# b", "a\n\t", "x" * 2000,
]  # fmt: skip

texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
    st.lists(st.sampled_from(TRICKY), max_size=4).map("\n".join),
)
names = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=9
)
numbers = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-5, 5).map(float))
some = st.floats(0, 1e9)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
filled = texts.filter(bool)
rules = st.one_of(
    filled,
    st.fixed_dictionaries({"text": filled, "weight": some, "ignore_case": st.booleans()}),
    st.fixed_dictionaries({"any": st.lists(filled, min_size=1, max_size=3), "neg": st.booleans()}),
)
scorers = st.one_of(
    filled.map(lambda text: Spec(name="contains", params={"texts": text})),
    st.lists(filled, min_size=1, max_size=3).map(
        lambda found: Spec(name="contains", params={"texts": found})
    ),
    st.builds(
        lambda text, every: Spec(name="contains", params={"texts": [text], "all": every}),
        filled,
        st.booleans(),
    ),
    st.lists(rules, min_size=1, max_size=3).map(
        lambda found: Spec(name="keywords", params={"rules": found})
    ),
    st.booleans().map(lambda flag: Spec(name="exact_match", params={"ignore_case": flag})),
    st.just(Spec(name="exact_match")),
    st.integers(-5, 5).map(lambda value: Spec(name="number", params={"value": value})),
    numbers.map(lambda value: Spec(name="number", params={"value": value})),
    st.dictionaries(names, json_values, max_size=3).map(
        lambda params: Spec(name="strange.module:Scorer", params=params)
    ),
    st.just(Spec(name="rouge", params={"metric": "rouge1"})),
)
criteria = st.lists(
    st.builds(
        Criterion,
        id=st.sampled_from(["contains", "contains-2", "keywords", "number", "a", "exact_match"]),
        scorer=scorers,
        weight=numbers | st.just(1.0),
        metric=texts,
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda criterion: criterion.id,
).map(tuple)
messages = st.lists(
    st.builds(Message, role=st.sampled_from(["system", "user", "assistant"]), content=texts),
    min_size=1,
    max_size=3,
).map(tuple)
cases = st.builds(
    Case,
    id=names,
    messages=messages,
    criteria=criteria,
    references=st.lists(texts, max_size=2).map(tuple),
    context=st.lists(texts, max_size=2).map(tuple),
    hidden=st.dictionaries(texts, json_values, max_size=2),
    dialogue=st.sampled_from(
        [Spec(name="single_turn"), Spec(name="clarify"), Spec(name="fata", params={"max_turns": 3})]
    ),
    tags=st.dictionaries(texts, st.lists(texts, max_size=3).map(tuple), max_size=2),
    weight=some,
    full_score=some,
    null_score=numbers,
    min_points=st.none() | st.floats(-9, 0),
    max_points=st.none() | st.floats(0.5, 9),
    out_of=st.none() | st.floats(0.5, 9),
    source=texts,
)
suites = st.builds(
    Suite,
    name=filled,
    cases=st.lists(cases, min_size=1, max_size=3, unique_by=lambda case: case.id).map(tuple),
    version=texts,
    description=texts,
    language=st.sampled_from(["en", "zh"]),
    reduce=st.sampled_from(["avg", "max", "median", "avg_max_10"]),
    dialect=st.sampled_from(["native", "infibench"]),
    compat=st.sampled_from(["", "original"]),
)


def keys(suite: Suite) -> list[str]:
    found = [case_key(case) for case in suite.cases]
    return [*found, suite_key(suite, found)]


@settings(
    max_examples=150 if LEVEL.ci else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(suite=suites)
@pytest.mark.slow
def test_what_is_written_reads_back_as_the_same_suite(tmp_path: Path, suite: Suite) -> None:
    path = write_native(suite, tmp_path)
    assert fits(read_yaml(path).data, SCHEMA)
    again = Native().read(path).suite
    assert keys(again) == keys(suite)
    assert replace(again, cases=()) == replace(suite, cases=())
    if suite.dialect != "native":
        kept = [case.source for case in suite.cases if case.source]
        assert [c.source for c, o in zip(again.cases, suite.cases, strict=True) if o.source] == kept


def test_the_writer_is_found_by_its_name(tmp_path: Path) -> None:
    path = build("writer", Spec(name="native")).write(one_case(), tmp_path / "new" / "folder")
    assert keys(Native().read(path).suite) == keys(one_case())


def one_case(**changes: object) -> Suite:
    case = Case(
        id="a",
        messages=(Message(role="user", content="Why?"),),
        criteria=(Criterion(id="contains", scorer=Spec(name="contains", params={"texts": "so"})),),
    )
    return Suite(name="small", cases=(replace(case, **changes),))


@pytest.mark.parametrize("text", TRICKY)
@pytest.mark.parametrize("extra", [{}, {"tags": {"k": ("v",)}}])
def test_every_tricky_text_survives_as_question_key_and_tag(
    tmp_path: Path, text: str, extra: dict[str, object]
) -> None:
    suite = one_case(
        messages=(Message(role="user", content=text),),
        references=(text, text),
        hidden={text: text},
        **{"tags": {"t": (text,)}, **extra},
    )
    assert keys(Native().read(write_native(suite, tmp_path)).suite) == keys(suite)


def test_the_file_is_short_and_plain(tmp_path: Path) -> None:
    suite = one_case(
        messages=(
            Message(role="system", content="Be brief."),
            Message(role="user", content="First line\n  second: line\n"),
        ),
        tags={"lang": ("python",), "level": ("1", "2")},
        weight=2.0,
    )
    assert write_native(suite, tmp_path).read_text() == (
        "name: small\n"
        "cases:\n"
        "  - id: a\n"
        "    system: Be brief.\n"
        "    ask: |\n"
        "      First line\n"
        "        second: line\n"
        "    criteria: so\n"
        "    tags:\n"
        "      lang: python\n"
        "      level:\n"
        '        - "1"\n'
        '        - "2"\n'
        "    weight: 2.0\n"
    )


@pytest.mark.parametrize(
    ("criterion", "written"),
    [
        (Criterion(id="number", scorer=Spec(name="number", params={"value": 3})), "number: 3"),
        (Criterion(id="exact_match", scorer=Spec(name="exact_match")), "exact_match: true"),
        (
            Criterion(id="x", scorer=Spec(name="matches", params={"pattern": r"\d"}), weight=2.0),
            "matches: '\\d'",
        ),
        (
            Criterion(id="contains", scorer=Spec(name="contains", params={"texts": "number"})),
            "contains: number",
        ),
    ],
)
def test_criteria_are_written_in_their_shortest_exact_form(
    tmp_path: Path, criterion: Criterion, written: str
) -> None:
    suite = one_case(criteria=(criterion,))
    path = write_native(suite, tmp_path)
    assert written in path.read_text()
    assert keys(Native().read(path).suite) == keys(suite)


def test_equality_with_references_needs_no_criteria(tmp_path: Path) -> None:
    equal = Criterion(id="exact_match", scorer=Spec(name="exact_match"))
    suite = one_case(criteria=(equal,), references=("so",))
    path = write_native(suite, tmp_path)
    assert "criteria" not in path.read_text()
    assert keys(Native().read(path).suite) == keys(suite)


@pytest.mark.slow
@pytest.mark.parametrize("count", [MAX_INLINE, MAX_INLINE + 1])
@pytest.mark.sampled(2)
def test_very_many_cases_go_to_a_file_beside(tmp_path: Path, count: int) -> None:
    case = one_case().cases[0]
    suite = Suite(name="big", cases=tuple(replace(case, id=f"c{i}") for i in range(count)))
    path = write_native(suite, tmp_path)
    assert (tmp_path / "cases.jsonl").exists() == (count > MAX_INLINE)
    assert keys(Native().read(path).suite) == keys(suite)


@pytest.mark.slow
def test_a_line_too_long_for_yaml_goes_to_a_file_beside(tmp_path: Path) -> None:
    suite = one_case(messages=(Message(role="user", content="x" * 1_100_000),))
    assert keys(Native().read(write_native(suite, tmp_path)).suite) == keys(suite)
    assert (tmp_path / "cases.jsonl").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": ()},
        {"criteria": ()},
        {"hidden": {"x": float("inf")}},
        {"messages": (Message(role="user", content="\ud800"),)},
    ],
)
def test_what_no_file_can_hold_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(SuiteError):
        write_native(one_case(**changes), tmp_path)
    assert not list(tmp_path.iterdir())
