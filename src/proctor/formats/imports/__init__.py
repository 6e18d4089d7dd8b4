"""Results of other evaluation tools, read as suites with runs that are scored already."""
