"""Transfer of runs: export, import, answers in memory."""
