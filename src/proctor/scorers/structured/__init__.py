"""Scorers of structured answers: calls of tools, JSON, XML, SQL."""
