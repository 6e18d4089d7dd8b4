"""Scoring of outputs without a run, as they come."""
