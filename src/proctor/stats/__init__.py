"""Arithmetic on many numbers: how sure a rate is."""
