"""A small agent without a model, so that the cases beside it can be tried at once.

It says hello, computes sums with its calculator, remembers the last result, and reads the numbers
of a file in its working folder.
"""

import re
from pathlib import Path

PRODUCT = re.compile(r"(\d+) (?:times|\*) (\d+)")
FILE = re.compile(r"(\w+\.csv)")


class Session:
    """Remember the last number for as long as one user talks."""

    def __init__(self):
        self.last = 0

    def send(self, message):
        """Answer one message, with the steps that led to the answer."""
        if found := PRODUCT.search(message):
            self.last = int(found[1]) * int(found[2])
            return self._computed(f"{found[1]} * {found[2]}")
        if "double" in message.lower():
            self.last *= 2
            return self._computed(f"{self.last // 2} * 2")
        if found := FILE.search(message):
            numbers = [float(line) for line in Path(found[1]).read_text().split()[1:]]
            self.last = sum(numbers) / len(numbers)
            Path("result.txt").write_text(str(self.last))
            return self._computed(f"mean of {found[1]}")
        return "Hello! I am a small agent with a calculator."

    def _computed(self, what):
        step = {"tool": "calculator", "input": what, "output": str(self.last)}
        return {"reply": f"The answer is {self.last}.", "steps": [step]}

    def close(self):
        """Nothing is held open."""
