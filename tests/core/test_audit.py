"""What is kept of an audit, and the noise floor that follows from it."""

import pytest

from proctor.core.audit import Estimated, JudgeAudit
from proctor.core.fingerprint import plain

FLIPS = Estimated(value=0.2, interval=(0.1, 0.3), n=50)


def test_there_and_back() -> None:
    audit = JudgeAudit(
        judge="openai:ruler", cases=50, answers=60, repeats=2, flips=FLIPS, noise_variance=0.1,
        probes={"length": Estimated(value=0.05, interval=None, n=50)}, notes=("a note",),
        labels={"fits": {"kappa": 0.5}}, created=5.0,
    )  # fmt: skip
    assert JudgeAudit.of(plain(audit)) == audit
    assert JudgeAudit.of({**plain(audit), "later": "unknown"}) == audit


@pytest.mark.parametrize("data", [{}, {"judge": "x", "flips": 3}, {"judge": "x", "probes": [1]}])
def test_what_is_no_audit_is_refused(data: dict[str, object]) -> None:
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        JudgeAudit.of(data)


def test_the_noise_floor_shrinks_with_cases_and_attempts() -> None:
    audit = JudgeAudit(judge="x", noise_variance=0.09)
    # Two judgings of 100 cases differ with variance 2 · 0.09 / 100.
    floor, fewer = audit.noise_floor(100), audit.noise_floor(100, 4)
    assert floor is not None
    assert fewer is not None
    assert floor.value == pytest.approx(1.96 * (0.18 / 100) ** 0.5, rel=1e-4)
    assert fewer.value == pytest.approx(floor.value / 2)
    assert audit.noise_floor(0) is None
    assert JudgeAudit(judge="x").noise_floor(10) is None


def test_the_noise_floor_has_an_interval() -> None:
    audit = JudgeAudit(judge="x", noise_variance=0.0, noise_interval=(0.0, 0.09))
    floor = audit.noise_floor(100, 4)
    assert floor == (0.0, (0.0, pytest.approx(1.96 * (0.18 / 400) ** 0.5, rel=1e-4)))
    earlier = JudgeAudit.of({"judge": "x", "noise_variance": 0.09})
    assert earlier.noise_floor(100) == (pytest.approx(1.96 * (0.18 / 100) ** 0.5, rel=1e-4), None)
    stored = JudgeAudit.of({"judge": "x", "noise_variance": 0.0, "noise_interval": [0, 0.09]})
    assert stored.noise_interval == (0.0, 0.09)
