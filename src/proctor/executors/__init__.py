"""Executors: where grading runs."""
