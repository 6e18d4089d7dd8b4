"""Runs that travel: export, import, answers at hand."""
