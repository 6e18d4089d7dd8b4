"""Make calls of a suite's tools on its state, and print what came of them; runs in a sandbox.

It uses the standard library alone and imports nothing of the product.
"""

import copy
import inspect
import json
import os
import random
import sys
from typing import Any

JOB = "proctor-job.json"
SOURCE = "proctor-tools.py"
MOST_RESULT = 1_000_000
"""Characters of a result; a longer one is an error of the tool."""


def called(tools: dict[str, Any], state: Any, call: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the state after a call, and its result; a call that fails changes nothing."""
    tool = tools.get(call["name"])
    if not inspect.isfunction(tool):
        return state, {"error": f"there is no tool {call['name']!r}"}
    arguments = call["arguments"]
    if not isinstance(arguments, dict):
        return state, {"error": "the arguments are not a JSON object"}
    changed = copy.deepcopy(state)
    try:
        inspect.signature(tool).bind(changed, **arguments)
    except TypeError as error:
        return state, {"error": str(error)}
    random.seed(f"{call['place']} {call['name']}")
    try:
        result = tool(changed, **arguments)
        json.dumps(changed, allow_nan=False)
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its result
        return state, {"error": failure(error)}
    if len(text) > MOST_RESULT:
        return state, {"error": f"the result has more than {MOST_RESULT} characters"}
    return json.loads(json.dumps(changed)), {"result": text}


def failure(error: BaseException) -> str:
    """Say what went wrong: a tool's own words, or the name of an error that it did not foresee."""
    words = str(error) or type(error).__name__
    if isinstance(error, KeyError):
        return f"there is no {words}"
    return words if isinstance(error, ValueError) else f"{type(error).__name__}: {words}"


def done(job: dict[str, Any]) -> dict[str, Any]:
    """Do what the job says, and return the state and the results."""
    with open(SOURCE, encoding="utf-8") as file:
        source = file.read()
    names: dict[str, Any] = {"__name__": "tools", "__file__": "tools.py"}
    try:
        exec(compile(source, "tools.py", "exec"), names)  # noqa: S102 - in the sandbox  # nosec B102
    except BaseException as error:  # noqa: BLE001 - a module may raise whatever it likes
        return {"failed": f"the module of tools cannot be loaded: {type(error).__name__}: {error}"}
    state, results = job["state"], []
    for call in job["calls"]:
        state, result = called(names, state, call)
        results.append(result)
    return {"state": state, "results": results}


def main() -> None:
    """Print one line of JSON; what tools print goes elsewhere."""
    sys.stdout.flush()
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with open(JOB, encoding="utf-8") as file:
        job = json.load(file)
    report.write(json.dumps(done(job), ensure_ascii=False))
    report.flush()
