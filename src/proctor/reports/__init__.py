"""Reports: a run as text for people and files for programs."""
