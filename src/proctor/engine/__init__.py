"""The engine: the only place where suites, candidates, scorers, store and reports meet."""
