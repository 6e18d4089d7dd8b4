"""Cases that are nearly the same: a note that they may belong to one cluster."""

from collections.abc import Sequence
from itertools import islice

from proctor.core.suite import Case, Suite
from proctor.errors import Problem
from proctor.stats.near_duplicates import joined_groups, near_duplicates
from proctor.stats.paraphrases import masked_numbers, paraphrases, templates

MOST_CASES = 5_000
"""How many cases are looked at; of more, the first ones."""
FEWEST_WORDS = 5
"""Shorter questions share all of their word sequences by chance."""
_SHOWN = 4


def cluster_notes(suite: Suite) -> list[Problem]:
    """Return notes where cases without a cluster are nearly the same as others.

    Those that differ in numbers alone are one template, not one question, and are named as such.
    """
    cases = [case for case in islice(suite.cases, MOST_CASES) if not case.cluster]
    texts = [_text(case) for case in cases]
    questions = [bare_question(case) for case in cases]
    long = (text if len(text.split()) >= FEWEST_WORDS else "" for text in texts)
    groups = joined_groups(len(texts), near_duplicates(long), paraphrases(questions))
    same = [group for group in groups if not _is_template(texts, group)]
    notes = []
    if same:
        alike, many = sum(map(len, same)), len(same)
        message = (
            f"{alike} cases are nearly the same as others, in {_groups(many)}"
            f" ({_shown(cases, same[0])}): intervals count each as a draw of its own"
        )
        notes.append(_note(message, cases, same))
    if kinds := templates(questions):
        alike, many = sum(map(len, kinds)), len(kinds)
        message = (
            f"{alike} cases differ from others in numbers alone, in {_groups(many)}"
            f" ({_shown(cases, kinds[0])}): other questions in the same words, of which"
            " intervals count each as a draw of its own"
        )
        notes.append(_note(message, cases, kinds))
    return notes


def bare_question(case: Case) -> str:
    """Return what is asked, if its words are all there is; nothing beside pictures or documents."""
    more = case.files or case.context or case.vars or case.setup
    return "" if more or any(message.images for message in case.messages) else _text(case)


def _text(case: Case) -> str:
    return "\n".join(message.content for message in case.messages if message.role != "system")


def _is_template(texts: Sequence[str], group: Sequence[int]) -> bool:
    """Tell whether texts are the same but for their numbers, and not the same with them."""
    several = {texts[place].casefold() for place in group}
    return len(several) > 1 and len({masked_numbers(texts[place]) for place in group}) == 1


def _groups(number: int) -> str:
    return f"{number} group{'' if number == 1 else 's'}"


def _shown(cases: Sequence[Case], group: Sequence[int]) -> str:
    ids = ", ".join(cases[place].id for place in group[:_SHOWN])
    return f"{ids}, …" if len(group) > _SHOWN else ids


def _note(message: str, cases: Sequence[Case], groups: Sequence[Sequence[int]]) -> Problem:
    tag = _tag_of([[cases[place] for place in group] for group in groups])
    hint = (
        f"if they belong together, write 'cluster: {tag}' in the suite"
        if tag
        else "if they belong together, give them one 'cluster'"
    )
    return Problem(message=message, hint=hint, severity="note")


def _tag_of(groups: Sequence[Sequence[Case]]) -> str:
    """Return a tag that has one value in each group, and another in every other."""
    for tag in groups[0][0].tags:
        values = [{case.tags.get(tag, ()) for case in group} for group in groups]
        single = [next(iter(tag_values)) for tag_values in values if len(tag_values) == 1]
        if len(single) == len(groups) == len(set(single)) and all(single):
            return tag
    return ""
