"""The durable record: suites, attempts, scores and runs in one schema on SQLite or PostgreSQL."""
