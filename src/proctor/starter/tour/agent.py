"""The agent of the tour: it reads and writes real files; its mistakes and pauses are scripted."""

import csv
import time
from pathlib import Path
from typing import Any

Step = dict[str, Any]
PAUSES = {"python": 0.12, "send_mail": 0.2, "read_file": 0.03}
CHART = """import csv, pathlib
rows = list(csv.DictReader(open("sales.csv")))
bars = [int(row["sales"]) for row in rows]
pathlib.Path("chart.svg").write_text(draw(bars))"""


def answer(message: str) -> dict[str, Any]:
    """Answer one message; the steps tell what was done for it."""
    if "chart" in message:
        return _chart()
    if "May" in message:
        step = _timed("read_file", {"path": "sales.csv"}, Path("sales.csv").read_text)
        return {"reply": "Going by the trend, May brings 1300.", "steps": [step], **_used(410, 18)}
    if "Send" in message:
        step = _timed("send_mail", {"to": "sales@example.com"}, lambda: "Error: no network here")
        return {"error": "it could not reach a mail server", "steps": [step], **_used(380, 9)}
    if "add up" in message:
        step = _timed("calculator", "1200 + 950 + 1100", lambda: sum(_numbers()))
        return {"reply": "All months add up to 3250", "steps": [step], **_used(530, 14)}
    return _best()


def _best() -> dict[str, Any]:
    read = _timed("read_file", {"path": "sales.csv"}, Path("sales.csv").read_text)
    thought = "One row has no number. I leave it out and say so."
    write = _timed("write_file", {"path": "sorted.csv"}, _write_sorted)
    reply = "**January** was the best month, with 1200. March has no number."
    checker = {
        "tool": "checker",
        "input": {"task": "Is sorted.csv in order?"},
        "output": "It is in order.",
        "steps": ["I read the file that was written.", _checked()],
    }
    return {"reply": reply, "steps": [read, thought, write, checker], **_used(690, 61)}


def _checked() -> Step:
    """Read a file once more, as an agent within this one."""
    return _timed("read_file", {"path": "sorted.csv"}, Path("sorted.csv").read_text)


def _chart() -> dict[str, Any]:
    read = _timed("read_file", {"path": "sales.csv"}, Path("sales.csv").read_text)
    failed = _timed("python", CHART, _draw_all)
    thought = "The row of March holds no number. I draw the others."
    drawn = _timed("python", CHART.replace("in rows]", 'in rows if row["sales"].isdigit()]'), _draw)
    steps = [read, failed, thought, drawn]
    return {
        "reply": "The chart is in chart.svg; March has no number.",
        "steps": steps,
        **_used(1240, 133),
    }


def _timed(tool: str, tool_input: Any, work: Any) -> Step:
    """Do something as a tool would, and tell what it took."""
    started = time.monotonic()
    time.sleep(PAUSES.get(tool, 0.02))
    try:
        output = work()
    except ValueError as error:
        output = f"Traceback (most recent call last):\nValueError: {error}"
    return {
        "tool": tool,
        "input": tool_input,
        "output": output,
        "seconds": time.monotonic() - started,
    }


def _used(prompt: int, completion: int) -> dict[str, Any]:
    return {"usage": {"calls": 1, "prompt_tokens": prompt, "completion_tokens": completion}}


def _rows() -> list[dict[str, str]]:
    with Path("sales.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _numbers() -> list[int]:
    return [int(row["sales"]) for row in _rows() if row["sales"].isdigit()]


def _write_sorted() -> str:
    rows = sorted(
        (row for row in _rows() if row["sales"].isdigit()), key=lambda row: -int(row["sales"])
    )
    lines = ["month,sales", *(f"{row['month']},{row['sales']}" for row in rows)]
    Path("sorted.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"wrote {len(rows)} rows"


def _draw_all() -> str:
    return _draw([int(row["sales"]) for row in _rows()])


def _draw(numbers: list[int] | None = None) -> str:
    bars = [
        f'<rect x="{20 * place}" y="{120 - number / 10}" width="15" height="{number / 10}"/>'
        for place, number in enumerate(numbers or _numbers())
    ]
    picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 120">' + "".join(bars)
    Path("chart.svg").write_text(picture + "</svg>\n", encoding="utf-8")
    return f"drew {len(bars)} bars"
