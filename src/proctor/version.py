"""The version of the product, in one place."""

__version__ = "0.2.0"
