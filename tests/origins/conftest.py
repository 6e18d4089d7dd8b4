"""Layouts of origins are tried on the runs that all reports are tried on."""

from reports.conftest import *  # noqa: F403
