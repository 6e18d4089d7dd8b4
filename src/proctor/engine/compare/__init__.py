"""Comparisons of stored runs."""
