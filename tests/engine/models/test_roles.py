"""Who plays which role: what the hand and the file say, who gets a key, and who is missing."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialect import Reading
from proctor.contracts.model import ModelChoice
from proctor.core.access import Access, Credential, Source
from proctor.core.exchange import Request, Sampling
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.models.access import from_file
from proctor.engine.models.prompted import PromptedModel, dressed
from proctor.engine.models.roles import Models, judge_of, resolved
from proctor.engine.run.prepare import prepare
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings, SuiteSettings
from proctor.errors import MissingResource, ModelError, UsageError
from proctor.store.store import Store
from proctor.testing import FakeServer, ScriptedModel

Ask = Callable[..., Request]
FILE = ModelChoice(
    spec="openai:file@https://file.example/v1",
    sampling=Sampling(temperature=0.6, max_tokens=100, stop=("END",), extra={"x": 1}),
    access=Access(
        credentials=(
            Credential(name="key", key="key of the file"),
            Credential(name="headers", headers={"X-File": "1"}),
        )
    ),
    concurrency=7,
    timeout=30.0,
    system="be brief",
    suffix="in French",
)


def settings(**changes: Any) -> RunSettings:
    return RunSettings(suite=SuiteSettings(path=Path("suite")), **changes)


def reading(*criteria: Criterion, dialogue: str = "single_turn", **roles: ModelChoice) -> Reading:
    case = Case(
        id="a",
        messages=(Message(role="user", content="q"),),
        criteria=criteria,
        references=("r",),
        dialogue=Spec(name=dialogue),
    )
    return Reading(suite=Suite(name="s", cases=(case,)), roles=roles)


def judged(weight: float = 1.0) -> Criterion:
    return Criterion(
        id="j", scorer=Spec(name="judged", params={"question": "Nice?"}), weight=weight
    )


EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))
HAND = ModelChoice(spec="openai:hand")


# the hand and the file


def test_the_file_alone() -> None:
    found = resolved(settings(), reading(EXACT, candidate=FILE, judge=FILE, simulator=FILE))
    own = from_file(FILE, "suite")
    assert own.access.source == Source(kind="file", place="suite", file="suite")
    assert {one.source for one in own.access.credentials} == {own.access.source}
    assert (found.model, found.simulator) == (own, own)
    assert found.panel.judges == (own,)


@pytest.mark.parametrize(
    ("hand", "merged"),
    [
        (HAND, FILE.sampling),
        (
            replace(HAND, sampling=Sampling(temperature=0.0)),
            replace(FILE.sampling, temperature=0.0),
        ),
        (
            replace(HAND, sampling=Sampling(max_tokens=5, seed=3)),
            replace(FILE.sampling, max_tokens=5, seed=3),
        ),
        (replace(HAND, sampling=Sampling(stop=("X",))), replace(FILE.sampling, stop=("X",))),
    ],
)
def test_a_model_named_by_hand_is_asked_as_the_file_says(
    hand: ModelChoice, merged: Sampling
) -> None:
    by_hand = settings(model=hand, panel=JudgeSettings(judges=(hand, hand)), simulator=hand)
    found = resolved(by_hand, reading(EXACT, candidate=FILE, judge=FILE, simulator=FILE))
    for choice in (found.model, found.simulator, *found.panel.judges):
        assert choice is not None
        assert choice.spec == "openai:hand"
        assert choice.sampling == merged
        assert (choice.concurrency, choice.timeout) == (7, 30.0)
        assert (choice.system, choice.suffix) == ("be brief", "in French")
        # what the file has for its own server does not go to another
        assert choice.access == Access()
    assert len(found.panel.judges) == 2


def test_the_hand_goes_before_the_file() -> None:
    hand = replace(HAND, concurrency=2, timeout=1.0, system="be long", suffix="in English")
    found = resolved(settings(model=hand), reading(EXACT, candidate=FILE)).model
    assert found is not None
    assert (found.concurrency, found.timeout) == (2, 1.0)
    assert (found.system, found.suffix) == ("be long", "in English")


def test_answers_on_file_are_examined_and_not_the_file_s_candidate() -> None:
    found = resolved(settings(answers=Path("a.jsonl")), reading(EXACT, candidate=FILE, judge=FILE))
    assert found.model is None
    assert found.panel.judges == (from_file(FILE, "suite"),)


@pytest.mark.parametrize(
    ("given", "heat"), [(Sampling(), 0.0), (Sampling(temperature=0.7), 0.7), (Sampling(seed=1), 0)]
)
def test_judges_are_asked_without_chance(given: Sampling, heat: float) -> None:
    judge = ModelChoice(spec="openai:j", sampling=given)
    found = resolved(settings(model=HAND, panel=JudgeSettings(judges=(judge,))), reading(judged()))
    assert found.panel.judges[0].sampling == replace(given, temperature=heat)
    assert found.model == HAND


@pytest.mark.parametrize(
    ("by_hand", "by_file", "attempts"), [(None, None, None), (None, 3, 3), (2, 3, 2), (2, None, 2)]
)
def test_attempts(by_hand: int | None, by_file: int | None, attempts: int | None) -> None:
    given = replace(reading(EXACT), attempts=by_file)
    assert resolved(settings(model=HAND, attempts=by_hand), given).attempts == attempts


# what is put around a conversation


USER, SAID = Message(role="user", content="u"), Message(role="assistant", content="s")


@pytest.mark.parametrize(
    ("system", "suffix", "messages", "made"),
    [
        ("", "", (USER,), [("user", "u")]),
        ("S", "", (USER, SAID, USER),
         [("system", "S"), ("user", "u"), ("assistant", "s"), ("user", "u")]),
        ("", "X", (USER, SAID, USER), [("user", "u"), ("assistant", "s"), ("user", "u\nX")]),
        ("", "X", (USER, SAID), [("user", "u\nX"), ("assistant", "s")]),
        ("S", "X", (SAID,), [("system", "S"), ("assistant", "s")]),
        ("S", "X", (), [("system", "S")]),
    ],
)  # fmt: skip
def test_dressed(
    system: str, suffix: str, messages: tuple[Message, ...], made: list[tuple[str, str]]
) -> None:
    found = dressed(ModelChoice(spec="openai:m", system=system, suffix=suffix), messages)
    assert [(message.role, message.content) for message in found] == made


def test_pictures_and_thinking_stay_with_a_dressed_message() -> None:
    message = Message(role="user", content="u", images=("https://x/y.png",))
    [found] = dressed(ModelChoice(spec="openai:m", suffix="X"), [message])
    assert found == replace(message, content="u\nX")


def test_a_dressed_model_is_somebody_else(ask: Ask) -> None:
    inner = ScriptedModel()
    plain = ModelChoice(spec="openai:m")
    assert PromptedModel.of(inner, plain) is inner
    worn = PromptedModel.of(inner, replace(plain, system="S", suffix="X"))
    assert worn.identity != inner.identity
    assert worn.label == inner.label
    asyncio.run(worn.reply(ask("q", salt="t")))
    [request] = inner.requests
    assert [m.content for m in request.messages] == ["S", "q\nX"]
    assert request.salt == "t"


def test_a_dressed_model_costs_what_the_one_inside_costs(store: Store) -> None:
    calls = CallSettings(prices={"m": (1.0, 2.0)})
    choice = ModelChoice(spec="openai:m", system="S")
    assert getattr(PromptedModel.of(Models(store, calls).open(choice), choice), "price", None) == (
        1,
        2,
    )


# who is missing


@pytest.mark.parametrize(
    ("criteria", "dialogue", "judges", "message"),
    [
        ((judged(),), "single_turn", (), "ask a judge, and there is none"),
        ((EXACT, judged(0.5)), "single_turn", (), "ask a judge, and there is none"),
        ((EXACT,), "clarify", (), "ask a judge, and there is none"),
        ((EXACT,), "single_turn", (), ""),
        ((judged(),), "single_turn", (HAND,), ""),
        ((EXACT,), "clarify", (HAND,), ""),
    ],
)
def test_missing_roles(
    criteria: tuple[Criterion, ...], dialogue: str, judges: tuple[ModelChoice, ...], message: str
) -> None:
    given = settings(model=HAND, panel=JudgeSettings(judges=judges))
    asked = reading(*criteria, dialogue=dialogue)
    if message:
        with pytest.raises(MissingResource, match=message):
            prepare(given, asked, Models(None, CallSettings()))
        return
    ready = prepare(given, asked, Models(None, CallSettings()))
    assert ready.reading.warnings == ()
    assert (ready.cast.simulator is not None) is bool(judges)


def test_nobody_plays_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.dialogues.clarify import Clarify

    monkeypatch.setattr(Clarify, "consults", frozenset({"simulator"}))
    asked = reading(EXACT, dialogue="clarify")
    with pytest.raises(MissingResource, match="need a simulated user"):
        prepare(settings(model=HAND), asked, Models(None, CallSettings()))
    given = settings(model=HAND, simulator=HAND)
    assert prepare(given, asked, Models(None, CallSettings())).cast.simulator is not None


def test_criteria_that_are_only_shown_may_stay_without_a_judge() -> None:
    ready = prepare(settings(model=HAND), reading(EXACT, judged(0.0)), Models(None, CallSettings()))
    [warning] = ready.reading.warnings
    assert warning.severity == "warning"
    assert "there is no --judge" in warning.message


def test_answers_on_file_need_no_partner_in_a_dialogue() -> None:
    given = settings(answers=Path("a.jsonl"))
    ready = prepare(given, reading(EXACT, dialogue="clarify"), Models(None, CallSettings()))
    assert ready.cast.candidate is None


def test_nobody_is_examined() -> None:
    with pytest.raises(UsageError, match="there is no candidate"):
        resolved(settings(), reading(EXACT, judge=FILE))


# judges


@pytest.mark.parametrize(
    ("judges", "repeats", "kind"),
    [(0, 1, "NoneType"), (1, 1, "ModelJudge"), (2, 1, "Panel"), (1, 3, "Panel"), (2, 3, "Panel")],
)
def test_one_judge_or_a_panel(judges: int, repeats: int, kind: str) -> None:
    panel = JudgeSettings(judges=(HAND,) * judges, repeats=repeats)
    models = [ScriptedModel(name=str(number)) for number in range(judges)]
    assert type(judge_of(panel, models)).__name__ == kind


@pytest.mark.parametrize(
    ("judges", "repeats", "attempts", "measures"),
    [
        (1, 1, 1, ["accuracy"]),
        (2, 1, 1, ["accuracy", "agreement"]),
        (1, 2, 1, ["accuracy", "agreement"]),
        (1, 1, 2, ["accuracy", "pass@1"]),
    ],
)
def test_measures_are_added_where_they_mean_something(
    judges: int, repeats: int, attempts: int, measures: list[str]
) -> None:
    asked = reading(judged())
    asked = replace(asked, suite=replace(asked.suite, measures=(Spec(name="accuracy"),)))
    panel = JudgeSettings(judges=(HAND,) * judges, repeats=repeats)
    given = settings(model=HAND, panel=panel, attempts=attempts)
    ready = prepare(given, asked, Models(None, CallSettings()))
    assert [spec.name for spec in ready.suite.measures] == measures


def test_a_model_in_several_roles_is_looked_for_once(store: Store) -> None:
    looks: list[str] = []

    class Looked(ScriptedModel):
        async def check(self) -> None:
            await asyncio.sleep(0)
            looks.append(self.name)

    class Absent(ScriptedModel):
        async def check(self) -> None:
            raise ModelError("not there", passing=True)

    async def work() -> None:
        from proctor.io.concurrency import map_unordered

        models = Models(store, CallSettings())
        async for _ in map_unordered(
            range(5), lambda n: models.check(Looked(name=str(n % 2))), limit=5
        ):
            pass
        with pytest.raises(ModelError, match="not there"):
            await models.check(Absent())

    asyncio.run(work())
    assert sorted(looks) == ["0", "1"]


def test_a_cassette_is_written_by_runs_alone(store: Store, tmp_path: Path) -> None:
    calls = CallSettings(record=tmp_path / "tape.jsonl")
    assert Models(None, calls).recorder is None
    assert not (tmp_path / "tape.jsonl").exists()
    asyncio.run(Models(store, calls).close())
    assert (tmp_path / "tape.jsonl").exists()


def test_closing_lets_go_of_every_connection(store: Store, ask: Ask) -> None:
    async def work(url: str) -> None:
        models = Models(store, CallSettings())
        model = models.open(ModelChoice(spec=f"openai:m@{url}"))
        await model.reply(ask())
        await models.close()
        assert models.bought == 1

    with FakeServer("ok") as server:
        asyncio.run(work(server.url))
    assert len(server.calls) == 1
