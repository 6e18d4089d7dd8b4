"""What a model wrote before its answer, split off from the answer."""

OPEN, CLOSE = "<think>", "</think>"


def split(text: str) -> tuple[str, str | None]:
    """Return the thinking and the answer; none where there is thinking and nothing after it.

    Blocks count from the start of the text; the answer is what comes after the last one. A block
    that is never closed has no answer after it. Templates that open the block in the prompt leave a
    closing tag alone: all before it is thinking then.
    """
    start = text.lstrip()
    opened = start.startswith(OPEN)
    if not opened and (CLOSE not in text or OPEN in text[: text.index(CLOSE)]):
        return "", text
    thoughts: list[str] = []
    rest = start
    while True:
        before, tag, after = rest.partition(CLOSE)
        if not tag:
            break
        thoughts.append(before.replace(OPEN, "", 1).strip())
        rest = after
    if OPEN in rest and (not thoughts or rest.lstrip().startswith(OPEN)):
        thoughts.append(rest.replace(OPEN, "", 1).strip())
        rest = ""
    return "\n\n".join(part for part in thoughts if part), rest.strip() or None
