"""Models in their roles: opened, called through the store, paid for, recorded."""
