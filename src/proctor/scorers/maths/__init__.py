"""The scorer of mathematical equality."""

from proctor._moved import names_of

__getattr__ = names_of(__name__)
