"""What is tried again, when, and for how long."""

import asyncio
from datetime import UTC, datetime

import pytest

from proctor.errors import ModelError
from proctor.models import retrying
from proctor.models.rate_limit import Limiter
from proctor.models.retrying import Retrying, TryFailed, seconds_of


class Time:
    """Pass only when somebody sleeps or a try takes its time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


def patient(time: Time, chance: float = 1.0, **settings: float) -> Retrying:
    limiter = Limiter(4, clock=time)
    retrying = Retrying(limiter, clock=time, sleep=time.sleep, chance=lambda: chance)
    for name, value in settings.items():
        setattr(retrying, name, value)
    return retrying


def run(retrying: Retrying, time: Time, fates: list[TryFailed | str], takes: float = 0.0) -> str:
    limits: list[float] = []
    left = iter(fates)

    async def once(limit: float) -> str:
        limits.append(limit)
        time.now += takes
        fate = next(left)
        if isinstance(fate, TryFailed):
            raise fate
        return fate

    try:
        return asyncio.run(retrying.run(once, who="openai:x"))
    finally:
        time.limits = limits  # type: ignore[attr-defined]
        assert retrying.limiter.running == 0


def test_back_off_doubles_to_a_most_and_is_jittered() -> None:
    full, none = patient(Time()), patient(Time(), chance=0.0)
    waits = [full.delay(tries, None) for tries in range(1, 9)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert [none.delay(tries, None) for tries in range(1, 9)] == [wait / 2 for wait in waits]


def test_the_server_says_when_to_come_again() -> None:
    time = Time()
    fates: list[TryFailed | str] = [TryFailed("busy", retry_after=7, kind="busy"), "yes"]
    assert run(patient(time, chance=0.0), time, fates) == "yes"
    assert time.slept == [7.0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("3", 3.0),
        ("0.25", 0.25),
        ("-4", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Sat, 01 Jan 2000 00:00:10 GMT", 10.0),
        ("Sat, 01 Jan 2000 00:00:10 -0000", 10.0),
        ("Fri, 31 Dec 1999 23:00:00 GMT", 0.0),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert seconds_of(header, datetime(2000, 1, 1, tzinfo=UTC)) == seconds


def test_what_cannot_succeed_is_not_tried_again() -> None:
    time = Time()
    with pytest.raises(ModelError) as raised:
        run(patient(time), time, [TryFailed("no such model", status=404, passing=False), "late"])
    assert str(raised.value) == "openai:x: no such model"
    assert (raised.value.status, raised.value.passing, raised.value.exit_code) == (404, False, 2)
    assert time.slept == []


def test_it_gives_up_after_its_retries() -> None:
    time = Time()
    with pytest.raises(ModelError) as raised:
        run(patient(time, retries=3), time, [TryFailed("broke", status=500)] * 9)
    assert str(raised.value) == "openai:x: broke (after 4 tries in 4 s)"
    assert raised.value.passing
    assert raised.value.exit_code == 3


def test_refusals_for_too_many_calls_cost_less_than_failures() -> None:
    time = Time()
    busy: list[TryFailed | str] = [TryFailed("busy", kind="busy", retry_after=1)] * 11
    assert run(patient(time, retries=3), time, [*busy, "yes"]) == "yes"


def test_the_deadline_holds_for_all_tries_together() -> None:
    time = Time()
    with pytest.raises(ModelError, match="after 3 tries in 23 s"):
        run(patient(time, deadline=24.0), time, [TryFailed("slow")] * 9, takes=7.1)
    time = Time()
    with pytest.raises(ModelError, match="busy"):
        run(patient(time, deadline=60.0), time, [TryFailed("busy", retry_after=3600)])
    assert time.slept == [], "an hour is not waited for when a minute is left"


def test_a_server_gone_for_long_is_not_waited_for() -> None:
    time = Time()
    with pytest.raises(ModelError) as raised:
        run(patient(time), time, [TryFailed("refused", kind="gone"), "late"])
    assert raised.value.passing
    assert time.slept == []


@pytest.mark.parametrize(
    ("took", "timeout", "limits"),
    [
        ([], 600.0, [120.0, 240.0, 480.0, 600.0]),
        ([], 30.0, [30.0, 30.0, 30.0, 30.0]),
        ([0.05, 0.05, 9.0], 600.0, [20.0, 40.0, 80.0, 160.0]),
        ([5.0], 600.0, [100.0, 200.0, 400.0, 600.0]),
    ],
)
def test_time_limits_follow_the_model(
    took: list[float], timeout: float, limits: list[float]
) -> None:
    retrying = patient(Time(), timeout=timeout)
    for seconds in took:
        retrying.took(seconds)
    assert [retrying.time_limit(slow) for slow in range(4)] == limits


@pytest.mark.parametrize(
    ("took", "usual"),
    [([3.0], 3.0), ([3.0, 5.0], 4.0), ([9.0, 3.0, 5.0], 5.0), ([6.0, 9.0, 3.0, 5.0], 5.5)],
)
def test_what_is_usual_is_the_median(took: list[float], usual: float) -> None:
    retrying = patient(Time())
    for seconds in took:
        retrying.took(seconds)
    assert retrying.time_limit() == 20 * usual


def test_what_has_become_usual_is_known_a_few_replies_later() -> None:
    model = patient(Time())
    for _ in range(retrying.RECENT):
        model.took(2.0)
    limits = []
    for _ in range(retrying.RECENT // 2 + retrying.LOOK_AFTER):
        model.took(10.0)
        limits.append(model.time_limit())
    assert set(limits) <= {40.0, 120.0, 200.0}
    assert limits[0] == 40.0
    assert limits[-1] == 200.0


def test_only_tries_that_were_too_slow_get_longer_limits() -> None:
    time = Time()
    fates: list[TryFailed | str] = [
        TryFailed("broke"), TryFailed("slow", kind="timeout"), TryFailed("broke"), "yes",
    ]  # fmt: skip
    assert run(patient(time), time, fates) == "yes"
    assert time.limits == [120.0, 120.0, 240.0, 240.0]  # type: ignore[attr-defined]


def test_a_first_call_that_hangs_is_given_up_once_others_have_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retrying, "LEAST_LIMIT", 0.2)
    monkeypatch.setattr(retrying, "LOOK_EVERY", 0.02)
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.01)
    tried = []

    async def main() -> str:
        calls = Retrying(Limiter(4))

        async def once(limit: float) -> str:
            tried.append(limit)
            if len(tried) == 1:
                await asyncio.sleep(3600)
            return "answered"

        waiting = asyncio.ensure_future(calls.run(once, who="openai:x"))
        await asyncio.sleep(0.05)
        calls.took(0.001)
        return await asyncio.wait_for(waiting, 30)

    assert asyncio.run(main()) == "answered"
    assert tried[0] == retrying.FIRST_LIMIT
    assert tried[1] < retrying.FIRST_LIMIT
