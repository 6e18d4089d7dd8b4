"""Formats that suites and answers are written in; each one stands alone."""
