"""Charts of runs and battles."""
