"""Runs as one page for people who have no store: it opens from disk and asks for nothing."""
