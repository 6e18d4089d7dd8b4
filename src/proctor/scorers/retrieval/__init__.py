"""Scorers of what was retrieved, by ids and without a judge."""
