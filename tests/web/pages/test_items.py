"""The page of item analysis: what `proctor items` finds, where that does not take long."""

from typing import Any

import pytest

from proctor.web.pages import items as items_page
from proctor.web.pages.items import show_items


def test_suspicious_cases_have_links_to_their_pages(
    asked: Any, page_pool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with page_pool.lend() as store:
        key = store.runs.get("new").suite_key
    request = asked(f"/suites/{key}/items", suite=key)
    data = show_items(request).data
    assert data.analysis is not None
    assert [one["candidate"] for one in data.analysis["takers"]] == ["new", "old"]
    assert all(one["page"].startswith("/runs/") for one in data.analysis["items"])
    monkeypatch.setattr(items_page, "MOST_CASES", 2)
    large = show_items(request).data
    assert (large.analysis, large.why) == (None, "large")
