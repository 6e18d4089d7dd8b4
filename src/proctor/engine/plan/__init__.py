"""Plans: what a run would do and cost, without doing it."""
