"""Input and output that knows no word of evaluation: files, JSON, processes, concurrency."""
