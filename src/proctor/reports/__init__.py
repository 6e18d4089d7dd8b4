"""Reports: a finished run as text for people and files for programs."""
