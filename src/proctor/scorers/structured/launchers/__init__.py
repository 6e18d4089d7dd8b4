"""Programs of scorers of structured answers that run by themselves inside a sandbox."""
