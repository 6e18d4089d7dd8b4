"""The page of a judge's audit: none yet, or the newest one."""

from typing import Any

import pytest

from proctor.store.store import Store
from proctor.web.pages.audit import show_audit
from proctor.web.store_pool import StorePool


@pytest.fixture
def request_of(tmp_path: Any, asked: Any, put_run: Any, examined: Any) -> Any:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        put_run(store, "one", [examined.plain(name, name, 1.0) for name in "ab"])
    pool = StorePool(path)

    def make() -> Any:
        request = asked("/runs/one/audit", run="one")
        request.scope["app"].state.store_pool = pool
        return request

    yield make
    pool.close()


def test_the_newest_audit_is_shown(request_of: Any) -> None:
    request = request_of()
    assert show_audit(request).data.audit is None
    estimated = {"value": 0.25, "interval": [0.1, 0.4], "n": 8}
    audit = {"judge": "j", "cases": 2, "answers": 2, "flips": estimated, "noise_variance": 0.01,
             "probes": {"length": estimated}}  # fmt: skip
    with request.app.state.store_pool.lend() as store:
        store.audits.save("one", "j", 1.0, audit)
    page = show_audit(request)
    assert page.data.audit["flip_rate"]["value"] == 0.25
    assert page.data.audit["probes"]["length"]["n"] == 8
    assert page.data.audit["noise_floor"] == pytest.approx(0.196, abs=0.001)
    assert "length" in page.only_page["words"]
