"""Judges: ask a model, or a panel of them, for a verdict; the only code that reads one."""

from proctor.judge.asking import ask
from proctor.judge.judges import ModelJudge, Panel
from proctor.judge.reading import Unreadable, read, shape_of

__all__ = ["ModelJudge", "Panel", "Unreadable", "ask", "read", "shape_of"]
