"""Where grading runs, as it is named on the command line."""

import sys
from typing import Any

import pytest

from proctor.cli.options import executor_spec
from proctor.errors import MissingResource
from proctor.io.concurrency import run_sync
from proctor.registry import build


@pytest.mark.parametrize(
    ("text", "workers", "name", "params"),
    [
        ("local", None, "local", {}),
        ("local", 3, "local", {"workers": 3}),
        ("ray", None, "ray", {}),
        ("ray:10.0.0.1:6379", 8, "ray", {"address": "10.0.0.1:6379", "workers": 8}),
        ("ray:ray://head:10001", None, "ray", {"address": "ray://head:10001"}),
    ],
)
def test_executors_by_name(
    text: str, workers: int | None, name: str, params: dict[str, Any]
) -> None:
    spec = executor_spec(text, workers)
    assert (spec.name, spec.params) == (name, params)
    assert build("executor", spec).workers == (workers or 0)


def test_a_cluster_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingResource, match=r"needs Ray \(fix: pip install 'proctor\[ray\]'\)"):
        run_sync(build("executor", executor_spec("ray", None)).warm(1))
