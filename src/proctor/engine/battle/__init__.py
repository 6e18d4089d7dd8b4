"""Battles: stored attempts compared by a judge."""
