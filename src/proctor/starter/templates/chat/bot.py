"""A bot that books tables: it remembers what was said, and asks for what is missing."""

import json
import re
import sys


def reply_to(said: str) -> str:
    """Return the reply to all that the guest has said so far."""
    people = re.search(r"(\d+) (?:people|persons|guests)", said)
    hour = re.search(r"at (\d+)", said)
    missing = [name for name, found in (("people", people), ("time", hour)) if not found]
    if people and hour:
        return f"Booked: a table for {people[1]} at {hour[1]} o'clock."
    return f"Gladly. Please tell me the {' and the '.join(missing)}."


asked = json.load(sys.stdin)
earlier = [line["content"] for line in asked["history"] if line["role"] == "user"]
print(reply_to(" ".join([*earlier, asked["message"]])))
