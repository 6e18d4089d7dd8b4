"""The judge of the example that goes by words alone, as a judge for scorers."""

import importlib.util
from pathlib import Path
from typing import Any

from proctor.core.exchange import Request
from proctor.judging.judges import ModelJudge
from proctor.testing import ScriptedModel

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "rag"


def reply() -> Any:
    """Return what the example's judge replies to the messages of a request."""
    spec = importlib.util.spec_from_file_location("example_rag_judge", EXAMPLE / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.reply


def word_judge() -> tuple[ModelJudge, ScriptedModel]:
    """Return a judge that rules by words, and the model that it asks."""
    said = reply()

    def line(request: Request) -> str:
        messages = [{"content": message.content} for message in request.messages]
        text: str = said(messages, {})
        return text

    model = ScriptedModel(line)
    return ModelJudge(model=model), model
