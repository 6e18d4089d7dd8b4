"""Cases as items of a test: which of them deserve a second look."""
