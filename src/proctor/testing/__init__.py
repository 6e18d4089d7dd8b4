"""Fakes for tests and demos: a model server that fails on demand, and scripted doers.

Plugin authors try a scorer or a dialogue with these in a few lines, without a network and without
a key; see ``docs/testing.md``.
"""

from proctor.testing.faults import Fault, Rule
from proctor.testing.replies import Answer
from proctor.testing.scripted import (
    ScriptedCandidate,
    ScriptedJudge,
    ScriptedModel,
    hold_dialogue,
    measure_in_parts,
    try_scorer,
)
from proctor.testing.server import Call, FakeServer

__all__ = [
    "Answer",
    "Call",
    "FakeServer",
    "Fault",
    "Rule",
    "ScriptedCandidate",
    "ScriptedJudge",
    "ScriptedModel",
    "hold_dialogue",
    "measure_in_parts",
    "try_scorer",
]
