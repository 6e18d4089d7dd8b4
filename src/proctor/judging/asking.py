"""One judge asked for one verdict: again, with what was wrong, until it can be read.

If no try can be read, ``ask`` raises JudgeError: ``scorers/judged/asking_judge.py`` makes a failed
score of it, a panel (``judges.py``) goes on without that judge, and the next run asks again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from proctor.contracts.judge import ReadingError, Ruling
from proctor.contracts.model import Model
from proctor.core.exchange import Reply, Request, Sampling, Usage
from proctor.core.prompt_fences import fenced_texts
from proctor.core.suite import Message
from proctor.errors import JudgeError
from proctor.judging.parsing import UnreadableReply, read, shape_of
from proctor.judging.quoting import Material, tame

Verdict = TypeVar("Verdict")

NO_JSON = "JudgeJSONParseFailed"
INVALID = "JudgeResultInvalid"
_SHOWN = 4000
_AGAIN = (
    "That reply could not be used: {problem}.{cut}\n"
    "Give your verdict again, on the same material and by the same rules. End with exactly one"
    " JSON object in a ```json block, with the keys {keys}, and write nothing after it."
)


@dataclass
class _Tries(Generic[Verdict]):
    """Outcome of the tries so far."""

    requests: list[Request] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None

    async def reply(self, model: Model, request: Request) -> Reply:
        reply = await model.reply(request)
        self.requests.append(request)
        self.raw.append(reply.text or "")
        self.usage += reply.usage
        if reply.seconds is not None:
            self.seconds = (self.seconds or 0.0) + reply.seconds
        return reply

    def ruling(self, verdict: Verdict, rung: str) -> Ruling[Verdict]:
        return Ruling(
            verdict=verdict,
            rung=rung,
            tries=len(self.raw),
            raw=tuple(self.raw),
            usage=self.usage,
            seconds=self.seconds,
        )

    def error(self, problem: ValueError | None, reason: str) -> JudgeError:
        times = "once" if len(self.raw) == 1 else f"{len(self.raw)} times"
        text = f"no readable verdict, asked {times}: {problem}"
        return JudgeError(text, raw=self.raw, usage=self.usage, reason=reason)


async def ask(  # noqa: PLR0913 - the judge's contract, and the model
    model: Model,
    messages: Sequence[Message],
    verdict: type[Verdict],
    *,
    tries: int = 3,
    salt: str = "",
    sampling: Sampling | None = None,
    reader: Callable[[str], Verdict] | None = None,
) -> Ruling[Verdict]:
    """Return a verdict whose fields have the right types, or raise a JudgeError.

    A model whose reply cannot be read is shown it with what was wrong. With ``reader`` it is asked
    again in the same words; a ReadingError that is ``final`` ends that at once. Where
    all replies were kept ones and none can be read, the model is asked anew.
    """
    how = (salt, sampling or Sampling())

    async def once(done: _Tries[Verdict]) -> Ruling[Verdict]:
        if reader is not None:
            return await _ask_original(model, messages, reader, tries, how, done)
        return await _ask_for_json(model, messages, verdict, tries, how, done)

    done: _Tries[Verdict] = _Tries()
    try:
        return await once(done)
    except JudgeError:
        if not await model.discard(done.requests):
            raise
    anew: _Tries[Verdict] = _Tries()
    try:
        return await once(anew)
    except JudgeError:
        await model.discard(anew.requests)
        raise


async def _ask_for_json(
    model: Model,
    messages: Sequence[Message],
    verdict: type[Verdict],
    tries: int,
    how: tuple[str, Sampling],
    done: _Tries[Verdict],
) -> Ruling[Verdict]:
    shape, conversation = shape_of(verdict), tuple(messages)
    problem, has_json = UnreadableReply("nothing was asked", has_json=False), False
    prompt = "\n".join(message.content for message in messages)
    material = Material(
        tuple(
            text
            for shown_message in messages
            for text in fenced_texts(shown_message.content, shown_message.marks)
        )
    )
    for number in range(1, tries + 1):
        salt = _salted(how[0], number)
        request = Request(messages=conversation, sampling=how[1], shape=shape, salt=salt)
        reply = await done.reply(model, request)
        try:
            text = _present(done.raw[-1])
            return done.ruling(*read(text, verdict, reply.rung, material, prompt))
        except UnreadableReply as error:
            problem, has_json = error, has_json or error.has_json
        words = tame(str(problem), material)
        conversation += _again(reply, words, shape.schema["properties"])
    raise done.error(problem, INVALID if has_json else NO_JSON)


async def _ask_original(
    model: Model,
    messages: Sequence[Message],
    reader: Callable[[str], Verdict],
    tries: int,
    how: tuple[str, Sampling],
    done: _Tries[Verdict],
) -> Ruling[Verdict]:
    problem: ValueError = ValueError("nothing was asked")
    for number in range(1, tries + 1):
        salt = _salted(how[0], number)
        await done.reply(model, Request(messages=tuple(messages), sampling=how[1], salt=salt))
        try:
            return done.ruling(reader(_present(done.raw[-1])), "reader")
        except ValueError as error:
            problem = error
            if isinstance(error, ReadingError) and error.final:
                raise done.error(problem, INVALID) from None
    raise done.error(problem, NO_JSON)


def _present(text: str) -> str:
    if not text.strip():
        raise UnreadableReply("the reply was empty", has_json=False)
    return text


def _salted(salt: str, number: int) -> str:
    return f"{salt}~{number}" if salt else f"try {number}"


def _again(reply: Reply, problem: str, keys: Any) -> tuple[Message, ...]:
    """Return the reply and what was wrong with it, as the next messages."""
    cut = " It was cut off before its end: be brief." if reply.truncated else ""
    named = ", ".join(f'"{key}"' for key in keys)
    words = _AGAIN.format(problem=problem.rstrip("."), cut=cut, keys=named)
    wish = Message(role="user", content=words)
    text = (reply.text or "").strip()
    if not text:
        return (wish,)
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return Message(role="assistant", content=shown), wish
