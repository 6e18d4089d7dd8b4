"""What `proctor demo --tour` fills a store with: a suite, scripted answers and verdicts, an agent."""
