"""Where a run's page leads: other runs of its suite, battles with them, its audit, its items."""

from pathlib import Path
from typing import Any

from proctor.core.comparison import Comparison, Preference
from proctor.store.store import Store
from proctor.web.pages.related import related_pages


def test_a_run_leads_to_what_tells_more_of_it(tmp_path: Path, put_run: Any, examined: Any) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        cases = [examined.plain("c", "x", 1.0)]
        runs = [put_run(store, name, cases) for name in ("a", "b", "c", "d", "e")]
        store.baselines.pin("quiz", "b")
        store.comparisons.put(
            [
                ("k", "c", Comparison(case_id="c", first="b", second="e", judge="j", asked="a",
                                      outcome=Preference.FIRST)),
            ]
        )  # fmt: skip
        pages = related_pages(store, runs[-1])
    kinds = [(page.kind, page.name) for page in pages]
    assert kinds[0] == ("compare", "b")
    assert [kind for kind, _ in kinds] == ["compare"] * 3 + ["battle", "items"]
    assert kinds[3] == ("battle", "b")
    assert pages[0].link in ("/compare?run=b&run=e", "/compare?run=e&run=b")
    assert pages[-1].link.endswith("/items")


def test_a_single_run_leads_to_its_items(tmp_path: Path, put_run: Any, examined: Any) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        pages = related_pages(store, put_run(store, "a", [examined.plain("c", "x", 1.0)]))
    assert [page.kind for page in pages] == ["items"]
