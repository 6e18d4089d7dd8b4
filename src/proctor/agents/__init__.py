"""Agents under examination: functions, commands, endpoints, and rounds on file."""
