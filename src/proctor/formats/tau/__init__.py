"""Tasks in the style of τ-bench and τ²-bench: read as cases with tools, a state and a user."""
