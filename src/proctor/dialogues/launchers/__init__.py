"""Programs of dialogues that run by themselves inside a sandbox."""
