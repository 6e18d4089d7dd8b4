"""Whether a program does something, told by the sandboxes of its parts."""

from proctor.contracts.sandbox import ACTIVITY, Activity, begin_part


def test_a_program_does_nothing_while_none_of_its_parts_does() -> None:
    told: list[bool] = []
    whole = Activity(told.append)
    token = ACTIVITY.set(whole)
    one, other = begin_part(), begin_part()
    ACTIVITY.reset(token)
    one.tell(idle=True)
    assert told == []
    other.tell(idle=True)
    other.tell(idle=True)
    assert told == [True]
    one.tell(idle=False)
    assert told == [True, False]
    one.end()
    assert told == [True, False, True]
    other.end()
    assert told == [True, False, True, False]


def test_what_ends_without_a_word_is_not_idle_any_more() -> None:
    told: list[bool] = []
    whole = Activity(told.append)
    token = ACTIVITY.set(whole)
    begin_part().tell(idle=True)
    ACTIVITY.reset(token)
    whole.end()
    assert told == [True, False]


def test_where_nobody_listens_nothing_happens() -> None:
    part = begin_part()
    part.tell(idle=True)
    part.end()
