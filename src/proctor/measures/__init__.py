"""Measures: one number, with its interval, over all cases of a run."""
