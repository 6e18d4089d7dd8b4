"""Replies of models without the keys that this process uses."""

from dataclasses import replace

from proctor.core.exchange import Reply
from proctor.core.suite import ToolCall
from proctor.io.redaction import SECRETS, redact, redact_json


def redact_reply(reply: Reply) -> Reply:
    """Return a model's reply without the keys of this process, wherever it repeats one."""
    if reply.round is None and not reply.tool_calls and not reply.carried:
        shown = (reply.text or "", reply.thinking, reply.finish, reply.request_id, reply.served_by)
        # All at once: no text repeats a key that does not repeat it among others.
        if not SECRETS.within("\n".join((*shown, *reply.logprobs))):
            return reply
    return replace(
        reply,
        text=None if reply.text is None else redact(reply.text),
        thinking=redact(reply.thinking),
        finish=redact(reply.finish),
        request_id=redact(reply.request_id),
        served_by=redact(reply.served_by),
        logprobs={redact(token): value for token, value in reply.logprobs.items()},
        round=None if reply.round is None else redact_json(reply.round),
        tool_calls=tuple(
            ToolCall(name=redact(call.name), arguments=redact_json(call.arguments), id=call.id)
            for call in reply.tool_calls
        ),
        carried=redact_json(reply.carried),
    )
