"""Scorers of what an agent did: files, commands, tools, skills, tests that used to pass."""
