"""Audits of judges: repeated rulings, and rulings on altered versions of the same answer."""
