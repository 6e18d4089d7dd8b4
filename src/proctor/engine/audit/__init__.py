"""Judges examined themselves: asked again, and about the same answer in other clothes."""
