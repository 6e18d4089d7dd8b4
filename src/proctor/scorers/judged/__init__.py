"""Scorers that ask a judge."""

from proctor._moved import names_of

__getattr__ = names_of(__name__)
