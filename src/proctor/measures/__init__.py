"""Measures: one number, with its interval, over all cases of a run.

The table in ``registry.py`` names each of them.
"""
