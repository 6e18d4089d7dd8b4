"""The tour: a store with something on every page, for newcomers, pictures and tests."""
