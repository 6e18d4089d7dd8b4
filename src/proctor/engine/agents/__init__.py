"""Agents under examination: their working folders and what prepares them."""
