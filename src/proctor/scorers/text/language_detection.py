"""The natural language that a text is written in."""

MOST = 20_000
"""How many characters of a text are looked at."""
NOTHING = -1e30
"""What the identifier gives to a text that says nothing about its language is far below this."""
NO_LANGUAGE = "zxx"
VARIANTS = {"yue": "zh", "wuu": "zh", "nb": "no", "nn": "no"}
"""Languages that the identifier tells apart, and that those who ask for one do not."""


def detect_language(text: str) -> str | None:
    """Return the code (ISO 639) of a text's language; none where it is too short to tell."""
    # The model is loaded with the first text: most runs ask for no language.
    import py3langid

    language, likelihood = py3langid.classify(text[:MOST].lower())
    if likelihood < NOTHING or language == NO_LANGUAGE:
        return None
    return VARIANTS.get(language, str(language))
