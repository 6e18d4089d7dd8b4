"""Sandboxes: where programs run that nobody trusts."""
