"""Write the verdicts of the template `judge`; run it when the judge's prompt has changed."""

import json
import os
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from proctor.testing import Answer, FakeServer

TEMPLATE = Path(str(files("proctor.starter"))) / "templates" / "judge"
HOLDS = {
    "The reply says that the money is paid back.": (True, "It says that the 24 euros come back."),
    "The reply says how long that takes.": (True, "Within 14 days."),
    "The reply asks the customer to send": (False, "It says that nothing need be sent in."),
    "The reply says what the shop will do next.": (False, "It only asks to wait."),
    "The reply is polite.": (False, "It is short to the point of rudeness."),
    "The reply stays calm": (True, "It is sorry, and offers help."),
    "The reply asks for what is needed": (True, "It asks for the number of the order."),
}


def verdict(messages: list[Any], body: Any) -> Answer:
    text = "\n".join(message["content"] for message in messages)
    (found,) = [words for statement, words in HOLDS.items() if statement in text]
    block = json.dumps({"reason": found[1], "result": "yes" if found[0] else "no"})
    return Answer(f"Reasoning: {found[1]}\n```json\n{block}\n```")


def record(to: Path) -> None:
    to.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder, FakeServer(verdict) as server:
        command = [
            *(sys.executable, "-m", "proctor.cli.main", "run", str(TEMPLATE / "suite.yaml")),
            *("--answers", str(TEMPLATE / "answers.jsonl"), "--store", f"{folder}/proctor.db"),
            *("--judge", f"openai:judge@{server.url}", "--record", str(to)),
        ]
        subprocess.run(command, check=True, env={**os.environ, "OPENAI_API_KEY": ""})
        text = to.read_text(encoding="utf-8")
        to.write_text(text.replace(server.url, "http://127.0.0.1/v1"), encoding="utf-8")


if __name__ == "__main__":
    record(TEMPLATE / "judge.jsonl")
