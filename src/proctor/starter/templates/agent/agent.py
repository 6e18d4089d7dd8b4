"""An agent that adds numbers up: one JSON object in, one out, for each message."""

import json
import re
import sys
from pathlib import Path


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def main() -> None:
    """Answer one message."""
    request = json.load(sys.stdin)
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path().glob("*.csv"))]
    total = sum(numbers_in("\n".join(texts) or request["message"]))
    step = {"tool": "calculator", "input": "sum", "output": total}
    if "file" in request["message"]:
        Path("total.txt").write_text(f"{total:g}\n", encoding="utf-8")
    print(json.dumps({"reply": f"The total is {total:g}.", "steps": [step]}))


main()
