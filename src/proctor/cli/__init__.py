"""The command line: one file per command, each parses, calls the engine once, and reports."""
