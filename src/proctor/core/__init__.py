"""Data and arithmetic: the nouns of the product, with the standard library alone and no I/O."""
