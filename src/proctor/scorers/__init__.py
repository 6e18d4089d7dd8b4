"""Scorers: one attempt and one criterion make one score; ``registry.py`` names each of them."""
