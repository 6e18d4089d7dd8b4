"""Scorers that ask a judge; the table in ``registry.py`` names each of them."""

from proctor._moved import names_of

__getattr__ = names_of(__name__)
