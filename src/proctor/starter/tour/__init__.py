"""The suite, the scripted answers and verdicts, and the agent of `proctor demo --tour`."""
