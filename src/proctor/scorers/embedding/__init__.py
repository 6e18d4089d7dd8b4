"""Scorers that compute with neural encoders, which need torch."""
