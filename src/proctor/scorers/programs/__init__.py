"""Scorers that run programs: unit tests and functions of suites."""
