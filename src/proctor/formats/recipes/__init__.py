"""Recipes of public benchmarks: rows from elsewhere become cases."""
