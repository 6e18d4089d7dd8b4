"""Runs as one self-contained page for people who have no store."""
