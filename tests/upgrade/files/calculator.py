"""An agent that knows two sums."""


def answer(question: str) -> str:
    return "It is 7." if "3 + 4" in question else "It is 14."
