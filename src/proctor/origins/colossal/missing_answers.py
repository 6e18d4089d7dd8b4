"""Answers that a file lacks, written by a model; each call is stored before it is used."""

from collections.abc import Callable, Sequence
from contextlib import aclosing

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Request
from proctor.core.suite import Message
from proctor.engine.models.call_scope import CallScope
from proctor.engine.models.network_guard import offline
from proctor.engine.models.prompted import dressed
from proctor.engine.models.roles import Models
from proctor.engine.run.evaluate import RunProgress
from proctor.engine.run.settings import CallSettings
from proctor.errors import ModelError
from proctor.io import concurrency
from proctor.store.store import Store

PHASE = "fill"


async def fill(
    store: Store,
    choice: ModelChoice,
    questions: Sequence[str],
    calls: CallSettings,
    progress: Callable[[RunProgress], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Return a model's answer to every question, or raise the first error when all were asked.

    What was answered by then is stored: the same command asks only for the rest.
    """
    models = Models(store, calls, notice)
    answers: dict[int, str] = {}
    errors: list[ModelError] = []

    async def ask(place: int) -> None:
        messages = dressed(choice, (Message(role="user", content=questions[place]),))
        request = Request(messages=messages, sampling=choice.sampling)
        with CallScope.opened():
            try:
                reply = await model.reply(request)
            except ModelError as error:
                errors.append(error)
                return
            answers[place] = reply.text or ""
            if not answers[place].strip():
                await model.discard([request])

    with offline(calls.offline):
        try:
            model = models.open(choice)
            if questions:
                await models.check(model)
            work = concurrency.map_unordered(range(len(questions)), ask, limit=calls.concurrency)
            async with aclosing(work) as done:
                async for _ in done:
                    state = RunProgress(
                        phase=PHASE, done=len(answers), total=len(questions), failed=len(errors)
                    )
                    progress(state)
        finally:
            await models.close()
    if errors:
        raise errors[0]
    return [answers[place] for place in range(len(questions))]
