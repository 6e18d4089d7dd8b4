"""What a run would do and cost, found out without doing it."""
