"""A bot that books tables: it remembers what was said, and asks for what is missing."""

import json
import re
import sys


def reply_to(text: str) -> str:
    """Return the reply to all that the guest has said so far."""
    people = re.search(r"(\d+) (?:people|persons|guests)", text)
    hour = re.search(r"at (\d+)", text)
    missing = [name for name, match in (("people", people), ("time", hour)) if not match]
    if people and hour:
        return f"Booked: a table for {people[1]} at {hour[1]} o'clock."
    return f"Gladly. Please tell me the {' and the '.join(missing)}."


request = json.load(sys.stdin)
earlier = [line["content"] for line in request["history"] if line["role"] == "user"]
print(reply_to(" ".join([*earlier, request["message"]])))
