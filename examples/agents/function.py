"""An agent that is a function: python:function:answer."""

from calculator import answer

__all__ = ["answer"]
