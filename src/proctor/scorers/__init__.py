"""Scorers: one attempt and one criterion make one score."""
