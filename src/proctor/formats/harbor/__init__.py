"""Tasks of Harbor: a folder for each, read as cases of a suite."""
