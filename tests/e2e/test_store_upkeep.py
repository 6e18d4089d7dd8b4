"""The size of a store, pruning and copying it, through the command line."""

import json
from typing import Any


def test_size_prune_and_backup(small: Any, run_small: Any) -> None:
    run_small("--name", "first")
    run_small("--name", "second")
    measured = small.json("store", "size")
    assert {run["name"] for run in measured["runs"]} == {"first", "second"}
    assert measured["bytes"] >= measured["database"] > 0
    shown = small("store", "size").stdout
    assert "attempts" in shown
    assert "second" in shown

    copied = small.json("store", "backup", "--out", "copies/copy.db")
    assert copied["runs"] == 2
    report = ("report", "first", "--format", "json")
    kept = small(*report, "--store", "copies/copy.db").stdout
    assert json.loads(kept)["totals"] == json.loads(small(*report).stdout)["totals"]
    refused = small("store", "backup", "--out", "copies/copy.db", code=2)
    assert "already exists" in refused.stderr

    planned = small("store", "prune", "--keep", "1").stdout
    assert "would remove the run first" in planned
    assert "add --yes" in planned
    assert len(small.json("list", "runs")["runs"]) == 2
    done = small.json("store", "prune", "--keep", "1", "--yes")
    assert [run["name"] for run in done["runs"]] == ["first"]
    assert [run["name"] for run in small.json("list", "runs")["runs"]] == ["second"]
    assert small("store", "prune").stdout == "nothing to remove\n"
    assert "no age" in small("store", "prune", "--older-than", "soon", code=2).stderr
