"""The starter suite that comes with the package, and answers of two candidates to it."""
