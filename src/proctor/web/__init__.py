"""The pages of ``proctor view``: suites, runs, cases and comparisons in a browser."""
