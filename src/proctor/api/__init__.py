"""The Python door: what ``import proctor`` offers, over the engine."""
