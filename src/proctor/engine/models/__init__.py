"""Models in their roles: opened, called through the store, budgeted, recorded."""
