"""One run: from settings and plan to collected attempts, scores and numbers."""
