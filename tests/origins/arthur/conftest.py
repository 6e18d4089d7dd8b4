"""Paging is tried on both databases, as the store is."""

from store.conftest import *  # noqa: F403
