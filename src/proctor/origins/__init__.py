"""Origins: formats and tools that came before, each a package that can be deleted."""
