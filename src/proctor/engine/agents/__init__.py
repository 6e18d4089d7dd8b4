"""Agents under evaluation: their working folders and setup."""
