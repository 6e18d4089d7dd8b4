"""Proctor's own suite format: reading, checking and writing it."""
