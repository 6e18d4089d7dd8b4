"""Contracts: what a plugin of each kind must be able to do, one file per kind."""
