"""The calls of a model as they are stored: what was sent, and what came back."""

from collections.abc import Sequence

from proctor.core.run import CaseResult, Run
from proctor.engine.run.candidate_calls import CandidateCall, candidate_calls
from proctor.store.store import Store
from proctor.web.highlight import pieces
from proctor.web.pages.case_view import Laid, written

MOST_ATTEMPTS = 5
"""For how many attempts on one page the calls are looked up."""


def add_exchanges(
    store: Store, run: Run, result: CaseResult, attempts: Sequence[Laid], *, most: int | None
) -> None:
    """Add the stored calls of the candidate to attempts, and to the steps that they gave.

    ``result`` is the case as its candidate was asked it.
    """
    by_index = {item.attempt.index: item.attempt for item in result.attempts}
    for place, attempt in enumerate(attempts):
        attempt["calls"] = []
        if place >= MOST_ATTEMPTS:
            continue
        calls = candidate_calls(store, run, result.case, by_index[attempt["index"]])
        laid = {call.reply: laid_call(call, most) for call in calls}
        attempt["calls"] = list(laid.values())
        for step in attempt["trace"]["steps"]:
            if (call_parts := laid.get(step["reply"])) is not None:
                step["exchange"] = call_parts["parts"]


def laid_call(call: CandidateCall, most: int | None) -> Laid:
    """Lay out a call for a page."""
    return {
        "reply": call.reply,
        "unusable": call.status != "ok",
        "parts": [
            {"kind": kind, "text": pieces(written(content), most=most)}
            for kind, content in (
                ("model_request", call.request),
                ("model_reply", call.response),
            )
        ],
    }
