"""What changed between editions of a suite."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.fingerprint import case_key, suite_key
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.store.rows import SuiteRow
from proctor.store.store import Store
from proctor.web.pages import editions
from proctor.web.pages.editions import EditionChange, change_since


def edition(version: str, **asked: str) -> Suite:
    criteria = (Criterion(id="fits", scorer=Spec(name="exact")),)
    cases = tuple(
        Case(id=name, messages=(Message(role="user", content=text),), criteria=criteria)
        for name, text in asked.items()
    )
    return Suite(name="growing", version=version, cases=cases)


def test_cases_added_removed_and_edited_since_the_edition_before(
    asked: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked("/suites/x")
    with Store.open(str(tmp_path / "p.db")) as store:

        def put(suite: Suite) -> SuiteRow:
            keys = [case_key(case) for case in suite.cases]
            key = suite_key(suite, keys)
            store.suites.put(suite, key, list(zip(keys, suite.cases, strict=True)))
            return next(row for row in store.suites.newest() if row.key == key)

        def change(row: SuiteRow) -> EditionChange | None:
            return change_since(request, store, row)

        first = put(edition("1", a="one", b="two", c="three"))
        later = put(edition("2", b="two", c="THREE", d="four"))
        other = put(replace(edition("3", x="one"), name="another"))
        later = replace(later, created=first.created + 1)
        found = change(later)
        assert found is not None
        assert (found.version, found.key) == ("1", first.key)
        assert (found.added, found.removed, found.edited) == (["d"], ["a"], ["c"])
        assert change(first) is None
        assert change(other) is None
        monkeypatch.setattr(editions, "MOST_CASES", 2)
        assert change(later) is None
