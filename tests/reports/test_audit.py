"""An audit as text and JSON."""

from dataclasses import replace

from proctor.core.audit import Estimated, JudgeAudit, NoiseFloor
from proctor.reports.audit import audit_object, audit_table

LABELS = {
    "fits": {
        "kappa": 0.6, "interval": [0.3, 0.8], "agreed": 18, "n": 20, "cases": 20,
        "confusion": [[0.0, 0.0, 8], [1.0, 0.0, 2], [1.0, 1.0, 10]],
        "corrected": {"value": 0.55, "interval": [0.4, 0.7]},
    },
    "bare": {
        "kappa": None, "interval": None, "agreed": 1, "n": 1, "cases": 1, "confusion": [],
        "corrected": {"value": None, "interval": None},
    },
}  # fmt: skip
AUDIT = JudgeAudit(
    judge="openai:ruler", cases=50, answers=50, repeats=2, unread=3, labels=LABELS,
    flips=Estimated(value=0.18, interval=(0.1, 0.28), n=50),
    flip_chance=Estimated(value=0.1, interval=(0.05, 0.17), n=50),
    probes={"length": Estimated(value=0.08, interval=(0.02, 0.14), n=50),
            "self": Estimated(value=-0.01, interval=None, n=2)},
    usage={"calls": 400, "cost": 0.5}, notes=("a note",),
)  # fmt: skip


def test_the_text() -> None:
    text = audit_table(AUDIT, "my-run", {"length": "padded"}, NoiseFloor(0.031, None))
    for part in ("my-run · judge openai:ruler · 50 scores of 50 cases", "18.0% [10.0–28.0%]",
                 "10.0% [5.0–17.0%]", "Noise floor: ± 3.1 points", "+8.0", "+2.0 to +14.0",
                 "padded", "-1.0", "–", "kappa 0.600 [0.300, 0.800], alike 18 of 20", "1/0: 2",
                 "corrected 0.5500", "Unread: 3", "a note", "Calls: 400", "$0.5000"):  # fmt: skip
        assert part in text
    sure = audit_table(AUDIT, "my-run", {}, NoiseFloor(0.031, (0.012, 0.052)))
    assert "Noise floor: ± 3.1 [1.2–5.2] points: judged again" in sure
    bare = audit_table(replace(AUDIT, flips=None, probes={}, labels={}), "r", {}, None)
    assert "nothing was asked again" in bare


def test_the_object() -> None:
    found = audit_object(AUDIT, NoiseFloor(0.03, None))
    assert found["flip_rate"] == {"value": 0.18, "interval": (0.1, 0.28), "n": 50}
    assert found["probes"]["length"]["value"] == 0.08
    assert (found["noise_floor"], found["noise_floor_interval"]) == (0.03, None)
    assert audit_object(replace(AUDIT, flip_chance=None), None)["flip_chance"] is None
