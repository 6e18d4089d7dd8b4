"""Cases that are nearly the same: a note that they may belong to one cluster."""

from collections.abc import Sequence
from itertools import islice

from proctor.core.suite import Case, Suite
from proctor.errors import Problem
from proctor.stats.near_duplicates import near_duplicates

MOST_CASES = 5_000
"""How many cases are looked at; of more, the first ones."""
FEWEST_WORDS = 5
"""Shorter questions look alike by chance."""
_SHOWN = 4


def cluster_notes(suite: Suite) -> list[Problem]:
    """Return a note where cases without a cluster are nearly the same as others."""
    cases = [case for case in islice(suite.cases, MOST_CASES) if not case.cluster]
    groups = near_duplicates(_text(case) for case in cases)
    if not groups:
        return []
    members = [[cases[place] for place in group] for group in groups]
    alike, many = sum(map(len, members)), len(members)
    shown = ", ".join(case.id for case in members[0][:_SHOWN])
    more = ", …" if len(members[0]) > _SHOWN else ""
    message = (
        f"{alike} cases are nearly the same as others, in {many} group{'' if many == 1 else 's'}"
        f" ({shown}{more}): intervals count each as a draw of its own"
    )
    tag = _tag_of(members)
    hint = (
        f"if they belong together, write 'cluster: {tag}' in the suite"
        if tag
        else "if they belong together, give them one 'cluster'"
    )
    return [Problem(message=message, hint=hint, severity="note")]


def _text(case: Case) -> str:
    text = "\n".join(message.content for message in case.messages if message.role != "system")
    return text if len(text.split()) >= FEWEST_WORDS else ""


def _tag_of(groups: Sequence[Sequence[Case]]) -> str:
    """Return a tag that has one value in each group, and another in every other."""
    for tag in groups[0][0].tags:
        values = [{case.tags.get(tag, ()) for case in group} for group in groups]
        single = [next(iter(tag_values)) for tag_values in values if len(tag_values) == 1]
        if len(single) == len(groups) == len(set(single)) and all(single):
            return tag
    return ""
