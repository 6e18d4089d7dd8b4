"""Instructions whose following can be checked by rule: lengths, formats, words, endings."""
