"""Transcripts of a run read by a judge, for successes and failures that are not what they seem."""
