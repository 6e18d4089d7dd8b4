"""Scorers that compare the answer with texts, patterns and templates."""

from proctor._moved import names_of

__getattr__ = names_of(__name__)
