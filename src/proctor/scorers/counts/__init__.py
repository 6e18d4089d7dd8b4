"""Scorers that count words, sentences and syllables."""
