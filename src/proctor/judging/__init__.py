"""Judges: ask a model, or a panel of them, for a verdict; the only code that reads one."""

from proctor.judging.asking import ask
from proctor.judging.judges import ModelJudge, Panel
from proctor.judging.parsing import UnreadableReply, read, shape_of

__all__ = ["ModelJudge", "Panel", "UnreadableReply", "ask", "read", "shape_of"]
