"""Programs that run in processes of their own, around an agent."""
