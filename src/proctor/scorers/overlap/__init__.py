"""Scorers that count what the answer and references have in common."""

from proctor._moved import names_of

__getattr__ = names_of(__name__)
