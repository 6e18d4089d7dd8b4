"""Checks of suites and of sandboxes."""
