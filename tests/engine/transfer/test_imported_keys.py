"""Quotations: keys and names of their own, no path of this machine, and claims marked as such."""

from dataclasses import replace

from proctor.core.comparison import Comparison, Preference
from proctor.core.run import Run, Summary, Totals
from proctor.core.suite import Case, CaseFile, Spec, Suite
from proctor.engine.transfer.imported_keys import (
    PREFIX,
    attempt_key,
    free_name,
    quoted_case,
    quoted_comparison,
    quoted_id,
    quoted_signature,
    score_key,
)
from proctor.store.store import Store

TOTALS = Totals(
    score=0.0, full=1.0, rate=0.0, spread=0.0, interval=None, cases=1, attempts=2,
    unanswered=1, unscored=0, errors=0, cases_unscored=0, bounds=None,
)  # fmt: skip
RUN = Run(id="r", name="n", suite="s", suite_key="abcdefghij", candidate=Spec(name="m"))


def test_keys_depend_on_the_run_and_on_every_place_in_it() -> None:
    keys = [
        quoted_id({"a": 1}),
        quoted_id({"a": 2}),
        *(attempt_key(run, place, index) for run in "ab" for place in (0, 1) for index in (0, 1)),
        *(score_key("a", 0, 0, name) for name in ("e", "f")),
    ]
    assert len({*keys}) == len(keys)
    assert quoted_id({"a": 1}) == keys[0]
    assert keys[0].startswith(PREFIX)


def test_what_another_machine_wrote_names_no_place_here() -> None:
    file = CaseFile(name="x", digest="d", path="/etc/passwd")
    case = Case(id="c", messages=(), criteria=(), files=(file,))
    assert quoted_case(case).files == (replace(file, path=""),)


def test_a_comparison_is_quoted_where_both_runs_are_here() -> None:
    comparison = Comparison(
        case_id="c", first="a", second="b", outcome=Preference.FIRST, asked="how"
    )
    assert quoted_comparison(comparison, {"a": "1"}) is None
    assert quoted_comparison(comparison, {"b": "2"}) is None
    put = quoted_comparison(comparison, {"a": "1", "b": "2"})
    assert put is not None
    key, content, quoted = put
    assert (quoted.first, quoted.second, quoted.imported, content) == ("1", "2", True, "")
    assert quoted.asked not in ("", "how")
    swapped = quoted_comparison(comparison, {"a": "2", "b": "1"})
    assert swapped is not None
    assert swapped[0] != key


def test_a_name_is_kept_where_it_is_free(store: Store) -> None:
    def put(name: str, key: str) -> None:
        store.runs.save(replace(RUN, id=f"{name}{key}", name=name, suite_key=key))

    assert free_name(store, "quiz") == "quiz"
    put("quiz", "one")
    assert free_name(store, "quiz") == "quiz-imported"
    assert free_name(store, "quiz", suite_key="other") == "quiz"
    put("quiz-imported", "one")
    put("quiz-imported-2", "one")
    assert free_name(store, "quiz", suite_key="one") == "quiz-imported-3"
    assert free_name(store, "qui") == "qui"


def test_what_is_known_here_is_not_taken_from_the_file() -> None:
    claims = (
        "suite:other@x|scorers:exact_match-1|judge:j|n:99|unanswered:7|ci:t95|version:9|imported:no"
    )
    run = replace(RUN, signature=claims)
    signed = quoted_signature(run, Suite(name="s", cases=()), Summary(totals=TOTALS))
    assert signed == (
        "suite:s@abcdefgh|dialect:native|scorers:exact_match-1|judge:j|reduce:avg|attempts:2|n:1"
        "|unanswered:1|ci:t95|version:9|imported:yes"
    )


def test_a_signature_cannot_bring_a_second_line() -> None:
    run = replace(RUN, signature="judge:a\nsuite:evil")
    signed = quoted_signature(run, Suite(name="s", cases=()), Summary(totals=TOTALS))
    assert "\n" not in signed
    assert signed.parts["suite"] == "s@abcdefgh"
