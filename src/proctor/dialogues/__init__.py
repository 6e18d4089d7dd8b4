"""Dialogues: how a case is put to a candidate, in one turn or in several."""
