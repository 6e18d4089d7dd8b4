"""The pages of single cases in a real browser: no text acts, and the keyboard does."""

from typing import Any

import pytest

from browsing import new_page
from level import LEVEL
from needs import imported
from proctor.engine.labels.labelling_order import RandomCases
from proctor.store.store import Store
from proctor.web.static_files import script, static_names

sync_api = imported("playwright.sync_api", "browser")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any, hostile: Any
) -> str:
    address = str(tmp_path_factory.mktemp("browser") / "proctor.db")
    with Store.open(address) as store:
        for name, texts in (("evil", hostile), ("twin", hostile[::-1])):
            cases = [examined.hostile(number, text) for number, text in enumerate(texts)]
            put_run(store, name, cases)
        for name, points in (("old", 0.0), ("new", 1.0)):
            put_run(store, name, [examined.plain(f"c{n}", name, points) for n in range(8)])
    return address


def test_hostile_texts_do_nothing(page: Any, hostile: list[str]) -> None:
    for number in range(0, len(hostile), 1 if LEVEL.ci else 4):
        paths = [f"/runs/evil/cases/case%20{number}"]
        if number % 4 == 1:
            paths.append(f"/runs/evil/cases/case%20{number}?steps=all")
        if number % 3 == 0 or not LEVEL.ci:
            paths.append(f"/runs/evil/label?case=case%20{number}")
            paths.append(f"/compare?run=evil&run=twin&case=case%20{number}")
        for path in paths:
            page.goto(path)
            sync_api.expect(page.locator("h1")).to_have_count(1)
            assert set(page.evaluate(_SCRIPTS)) <= OWN_SCRIPTS
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            strange = "main :is(img, svg:not(.timeline), iframe, style, object, embed, base)"
            sync_api.expect(page.locator(strange)).to_have_count(0)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_widens_the_page(browser: Any, address: str, width: int, scheme: str) -> None:
    size = {"width": width, "height": 800}
    with new_page(browser, base_url=address, viewport=size, color_scheme=scheme) as page:
        for path in ("/runs/evil/cases/case%2029", "/compare?run=old&run=new", "/runs/new/label"):
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_marks_are_given_by_keys(page: Any, place: str) -> None:
    with Store.open(place) as store:
        order = [case_id for _, case_id in RandomCases(store, store.runs.get("new")).after()]
    page.goto(f"/runs/new/label?case={order[0]}")
    for key, then in (("1", order[1]), ("0", order[2]), ("j", order[3]), ("k", order[2])):
        page.keyboard.press(key)
        page.wait_for_url(f"**case={then}&**")
    page.locator("input[name=note]").press_sequentially("10 jk")
    sync_api.expect(page.locator("input[name=note]")).to_have_value("10 jk")
    assert f"case={order[2]}" in page.url
    with Store.open(place) as store:
        given = [(label.case_id, label.points) for label in store.labels.of_run("new")]
    assert given == [(order[0], 1.0), (order[1], 0.0)]


def test_from_the_comparison_to_a_case_and_on(page: Any) -> None:
    page.goto("/compare?run=old&run=new")
    page.get_by_role("link", name="c3", exact=True).first.click()
    page.wait_for_url("**case=c3**")
    page.keyboard.press("j")
    page.wait_for_url("**case=c4**")
    sync_api.expect(page.locator("del, ins")).to_have_text(["old", "new"])


OWN_SCRIPTS = {str(script(name)) for name in static_names() if name.endswith(".js")}
_SCRIPTS = "[...document.scripts].map((one) => one.outerHTML)"
