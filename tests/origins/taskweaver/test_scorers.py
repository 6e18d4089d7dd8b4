"""Verdicts as the original reads them: a key, or else the letters of yes anywhere."""

import pytest

from proctor.origins.taskweaver.scorers import TaskWeaverScoringPoint, read_hit


@pytest.mark.parametrize(
    ("text", "hit", "reason"),
    [
        ('{"is_hit": "yes", "reason": "so"}', "yes", "so"),
        ('{"is_hit": "YES"}', "yes", ""),
        ('{"is_hit": "no"}', "no", ""),
        ('{"is_hit": "perhaps"}', "no", ""),
        ("Yes, it is.", "yes", ""),
        ("No; though yesterday it was.", "yes", ""),
        ("nothing of the kind", "no", ""),
        ('{"is_hit": true, "note": "yes"}', "yes", ""),
        ('["no"]', "no", ""),
    ],
)
def test_a_verdict_is_read_as_the_original_reads_it(text: str, hit: str, reason: str) -> None:
    verdict = read_hit(text)
    assert (verdict.is_hit, verdict.reason) == (hit, reason)


@pytest.mark.parametrize("text", ["", "maybe", "{}", "[" * 100_000])
def test_a_reply_without_yes_and_no_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="no yes and no no"):
        read_hit(text)


def test_the_judge_is_asked_once() -> None:
    scorer = TaskWeaverScoringPoint(statement="It is there.", tries=5)
    assert scorer._tries == 1
    assert scorer._reader is read_hit
