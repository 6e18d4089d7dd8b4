"""What an agent had is in the signature, and a comparison says where it differs."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from proctor.core.run import RESOURCES, Signature
from proctor.engine.run.resources import resources_differ, resources_text

HAD = {RESOURCES: {"cores": 2, "memory_mb": 8192, "at_once": 4, "timeout": 600.0}}
MORE = {RESOURCES: {"cores": 8, "memory_mb": 8192, "at_once": 4, "timeout": 60.0}}


def test_words() -> None:
    assert resources_text(HAD) == "cores=2,memory_mb=8192,at_once=4,timeout=600"
    assert resources_text({}) == ""
    assert resources_differ(HAD, MORE) == (
        "the agents had other resources: cores 2 and 8, timeout 600 and 60"
    )
    assert resources_differ(HAD, HAD) == ""
    assert resources_differ(HAD, {}) == "", "runs of earlier versions do not say"


def test_a_signature_is_read_back() -> None:
    line = str(Signature.of({"suite": "s@1", RESOURCES: resources_text(HAD), "reduce": "avg"}))
    assert Signature.read(line).parts[RESOURCES] == "cores=2,memory_mb=8192,at_once=4,timeout=600"


def test_compare_says_when_they_differ(proctor: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "name: s\ncases:\n- {id: a, ask: b, criteria: {contains: hi}}\n"
    )

    def called(*words: str) -> Any:
        ran = subprocess.run(
            [proctor, *words, "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return json.loads(ran.stdout)

    run = ("run", "s.yaml", "--agent", "exec:echo hi")
    first = called(*run, "--name", "first")
    called(*run, "--name", "second", "--agent-option", "timeout=7")
    assert "|resources:cores=" in first["run"]["signature"]
    (warning,) = called("compare", "first", "second")["warnings"]
    assert warning == "the agents had other resources: timeout 600 and 7"


@pytest.mark.parametrize("word", ["limit", "limit, provider"])
def test_again_makes_exactly_what_ended_by_a_cause(proctor: str, tmp_path: Path, word: str) -> None:
    """An attempt that came to a limit is final; --again makes it again, and other runs keep it."""
    (tmp_path / "s.yaml").write_text(
        "name: s\ncases:\n- {id: slow, ask: b, criteria: {contains: hi}}\n"
        "- {id: quick, ask: c, criteria: {contains: hi}}\n"
    )
    agent = tmp_path / "agent.sh"
    agent.write_text(
        f"read line; echo x >>{tmp_path}/asked; case $line in *slow*) [ -f {tmp_path}/go ] || sleep 9;; esac; echo hi\n"
    )

    def called(*words: str) -> Any:
        argv = [proctor, "run", "s.yaml", "--agent", "exec:bash agent.sh", *words]
        argv += ["--agent-option", "timeout=1", "--cases", "--json"]
        ran = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        report = json.loads(ran.stdout)
        return {
            case["id"]: (attempt["status"], attempt.get("cause"))
            for case in report["cases"]
            for attempt in case["attempts"]
        }

    before = {"slow": ("unanswered", "limit"), "quick": ("scored", None)}
    assert called("--name", "one") == before
    assert called("--name", "two") == before
    asked = len((tmp_path / "asked").read_text().split())
    (tmp_path / "go").touch()
    assert called("--name", "one") == before, "without --again it is final"
    after = {"slow": ("scored", None), "quick": ("scored", None)}
    assert called("--name", "one", "--again", word) == after
    assert len((tmp_path / "asked").read_text().split()) == asked + 1
    shown = subprocess.run(
        [proctor, "report", "two", "--cases", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    cases = {
        case["id"]: case["attempts"][0]["status"] for case in json.loads(shown.stdout)["cases"]
    }
    assert cases == {"slow": "unanswered", "quick": "scored"}
    assert called("--name", "one") == after
