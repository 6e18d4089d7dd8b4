"""Keys and documents of a run, as earlier versions wrote them: what is stored is found again.

The expected digests were taken when every document was encoded by itself. Were a key to change,
everybody would pay again for what they have.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from sqlalchemy import select

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Reply, ReplyShape, Request, Sampling, Usage
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run
from proctor.core.suite import Case, Criterion, Message, Spec, Suite, Tool, ToolCall
from proctor.engine.models.budget import Budget
from proctor.engine.models.call_cache import CallLog, StoredModel
from proctor.engine.models.roles import Cast
from proctor.engine.run.attempt_writer import AttemptWriter
from proctor.engine.run.collect import AttemptPlan, Collector
from proctor.engine.run.scorer_pool import Dialogues, Scorers
from proctor.store.schema import attempts, calls, run_scores, scores
from proctor.store.store import Store
from proctor.testing import ScriptedModel

SETTINGS = {
    "plain": Sampling(),
    "settings": Sampling(temperature=0.5, max_tokens=9, stop=("x",), extra={"z": 1, "a": [None]}),
}
LOOKUP = Tool(name="lookup", description="Find.", parameters={"type": "object", "b": 1, "a": 2})


def asked(text: str) -> Message:
    return Message(role="user", content=text)


def case(name: str, *messages: Message, **more: Any) -> Case:
    criteria = more.pop("criteria", (Criterion(id="has", scorer=Spec(name="contains")),))
    references = more.pop("references", ("é4",))
    return Case(id=name, messages=messages, criteria=criteria, references=references, **more)


CASES = (
    case("plain", asked("What is 2 + 2? é \u4e2d \U0001f600")),
    case("odd", asked('a "quote", a \\ and \u2028 \x00 \x10 \x7f \ud800 end\n')),
    case("system", Message(role="system", content="Be brief."), asked("Why?"), weight=2.0),
    case("picture", Message(role="user", content="See", images=("data:image/png;base64,AA==",))),
    case("tools", asked("Look it up"), tools=(LOOKUP,), tool_choice="auto"),
    case("shape", asked("As JSON"), response_format={"title": "T", "type": "object"}),
    case(
        "two",
        asked("Both"),
        criteria=(
            Criterion(id="one", scorer=Spec(name="contains", params={"ignore_case": True})),
            Criterion(id="two", scorer=Spec(name="exact_match"), weight=0.5, metric="m"),
        ),
        context=("a passage",),
        tags={"kind": ("x", "y")},
    ),
    case("silent", asked("Say nothing")),
)


def reply(request: Request) -> Reply:
    question = request.messages[-1].content
    if question == "Say nothing":
        return Reply(text=None, finish="stop", usage=Usage(calls=1, prompt_tokens=3))
    return Reply(
        text=f"it is é4 \ud800, since {question}",
        thinking="well …",
        finish="length" if "Why" in question else "stop",
        usage=Usage(calls=1, prompt_tokens=7, completion_tokens=2, cost=0.25, cached_tokens=1),
        seconds=0.125,
        request_id="r-1",
        served_by="m-2",
        logprobs={"it": -0.5, "\x00": -1.0},
        carried={"p": {"s": "signed"}} if "Both" in question else {},
    )


def told(rows: Iterable[Any]) -> str:
    """Return the digest of rows, in the order of their keys."""
    text = "\n".join(sorted(repr(tuple(row)) for row in rows))
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


class Answering(ScriptedModel):
    async def reply(self, request: Request) -> Reply:
        return reply(request)


@pytest.fixture
def collected(store: Store) -> Callable[[str], Store]:
    def collect(settings: str) -> Store:
        suite = Suite(name="pinned", cases=CASES)
        choice = ModelChoice(spec="scripted:m", sampling=SETTINGS[settings])
        if settings == "settings":
            choice = ModelChoice(
                spec="scripted:m", sampling=SETTINGS[settings], system="Sys.", suffix="End."
            )
        cast = Cast(candidate=StoredModel(Answering([]), CallLog(store), Budget()), choice=choice)
        plan = AttemptPlan(suite=suite, dialogues=Dialogues(), cast=cast, attempts=2)
        keyed = [(case_key(one), one) for one in suite.cases]
        key = suite_key(suite, [found for found, _ in keyed])
        store.suites.put(suite, key, keyed)
        store.runs.save(Run(id="r", name="r", suite="s", suite_key=key, candidate=Spec(name="m")))
        writer = AttemptWriter(store, "r")
        who = Collector(writer=writer, roster=plan, scorers=Scorers())
        asyncio.run(who.collect(lambda _: None))
        return store

    return collect


PINNED = {
    "plain": {
        "call keys": "348c0216b885113a",
        "calls": "45b422a8774ecb8c",
        "attempt keys": "4ef409bf66b71267",
        "attempts": "16ead3b2f4335e3e",
        "score keys": "288943f9788192c3",
        "scores": "502e73fc0f042845",
    },
    "settings": {
        "call keys": "919bb773be62d4b3",
        "calls": "7b4ca03d370be789",
        "attempt keys": "2b2a08d16fc63752",
        "attempts": "2483c7fd8c8f96f0",
        "score keys": "18c8f724b33f2b26",
        "scores": "7e1e1e44705dea0e",
    },
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_run_writes_what_earlier_versions_wrote(
    collected: Callable[[str], Store], settings: str
) -> None:
    database = collected(settings).database
    found = {
        "call keys": select(calls.c.key),
        "calls": select(*(column for column in calls.c if column.name != "created")),
        "attempt keys": select(attempts.c.key),
        "attempts": select(attempts),
        "score keys": select(run_scores.c.criterion, run_scores.c.score_key),
        "scores": select(scores),
    }
    assert {name: told(database.fetch_all(query)) for name, query in found.items()} == PINNED[
        settings
    ]


def test_a_call_of_a_judge_has_the_key_that_it_had(store: Store) -> None:
    request = Request(
        messages=(
            Message(role="assistant", content="", tool_calls=(ToolCall(name="f", id="1"),)),
            Message(role="tool", content="7", tool_call_id="1"),
            asked("Judge"),
        ),
        sampling=Sampling(temperature=0.0, seed=3),
        shape=ReplyShape(name="verdict", schema={"type": "object", "b": {}, "a": 1}),
        salt="c#1",
        top_logprobs=5,
    )
    model = StoredModel(Answering([]), CallLog(store), Budget(), None, "judge")
    asyncio.run(model.reply(request))
    ((key, document),) = store.database.fetch_all(select(calls.c.key, calls.c.request))
    assert key == "71bc7c91b0183be131ce46e50c149ccf"
    assert told([[document]]) == "2c9018f3022a3082"
