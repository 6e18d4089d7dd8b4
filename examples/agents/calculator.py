"""A small agent that uses a tool: a model says what to compute, the tool computes it.

The model is any server with OpenAI's chat completions: OPENAI_BASE_URL, OPENAI_API_KEY (not needed
on this machine) and AGENT_MODEL say which. The model is told to write ``CALC: 2 + 3`` when it wants
something computed, and gets the result back; whatever else it says is the answer.
"""

import ast
import json
import operator
import os
import re
import urllib.request
from pathlib import Path

SYSTEM = (
    "You are a careful assistant with one tool, a calculator. To use it, write one line such as"
    " CALC: 12 * 7 and nothing else; you are then told the result. When you know the answer, write"
    " it in one sentence."
)
MOST_CALLS = 5
WANTED = re.compile(r"^\s*CALC:\s*(.+?)\s*$", re.MULTILINE)
OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def calculate(expression):
    """Compute an expression of numbers, without running it as code."""

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            return OPERATIONS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
            return OPERATIONS[type(node.op)](value(node.operand))
        raise ValueError("only numbers and + - * / are known")

    return value(ast.parse(expression, mode="eval").body)


def ask_model(messages):
    """Return what the model says, and what it took."""
    url = os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions"
    body = {"model": os.environ.get("AGENT_MODEL", "small"), "messages": messages, "temperature": 0}
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("OPENAI_API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as response:
        told = json.load(response)
    return told["choices"][0]["message"]["content"] or "", told.get("usage") or {}


def answer(message, history, folder):
    """Answer a message; what was said before is in the history, files lie in the folder."""
    messages = [{"role": "system", "content": SYSTEM}, *history]
    messages.append({"role": "user", "content": message})
    steps, usage = [], {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0}
    said = ""
    for _ in range(MOST_CALLS):
        said, used = ask_model(messages)
        usage["calls"] += 1
        for name in ("prompt_tokens", "completion_tokens"):
            usage[name] += used.get(name, 0)
        wanted = WANTED.search(said)
        if wanted is None:
            break
        try:
            result = str(calculate(wanted[1]))
        except (SyntaxError, ValueError, ZeroDivisionError) as error:
            result = f"error: {error}"
        steps.append({"tool": "calculator", "input": wanted[1], "output": result})
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": f"The result is {result}."},
        ]
    with Path(folder, "tape.txt").open("a", encoding="utf-8") as tape:
        tape.writelines(f"{step['input']} = {step['output']}\n" for step in steps)
    return {"reply": said, "steps": steps, "usage": usage}
