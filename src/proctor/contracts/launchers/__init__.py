"""Programs of tools that run by themselves inside a sandbox."""
