"""Names by which the parts of the plugin, and the workers of a session, find each other."""

import pytest

SUFFIXES = (".suite.yaml", ".suite.yml")
"""What a suite is called that is collected."""
SHARED = "proctor_folder"
"""Where the workers of one session of pytest-xdist share what a run came to."""
SUMMARY = "proctor_run"
"""The property of a report that says what the run of its suite came to."""
UNMET = pytest.StashKey[bool]()
"""Whether a marker's limits were not looked at yet, since nothing was evaluated."""
