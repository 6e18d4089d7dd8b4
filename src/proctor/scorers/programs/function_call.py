"""Call a function of a suite, or run a snippet, and report on it; runs by itself, in a sandbox.

It runs in a child process that has no way to the standard output of its parent, so that
nothing it prints, starts or leaves behind can pass for the report. It uses the standard library
alone and imports nothing of the product.
"""

import os
import sys
from typing import Any

CALL, CASE = "call.json", "case"
MOST = 40_000
"""Bytes of a report; a longer detail is cut."""
HEAD = 32
"""Bytes before the child's message: a token of this run, and the length in hexadecimal digits."""
BEGUN = "begun"
"""Printed before a snippet starts, so that what goes wrong after it is the snippet's doing."""
SNIPPET = "eval_code"
VARIABLES = ("agent_response", "chat_history", "rounds")


def main(proof: str) -> None:
    """Run the call that is written beside this file, and print its report and the proof."""
    here = os.getcwd()
    # What the suite brings along must not stand in for a module of the standard library here.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", here)]
    import json

    _guard_self()
    with open(CALL, encoding="utf-8") as file:
        call = json.load(file)
    os.makedirs(CASE, exist_ok=True)
    _protect(CASE)
    if "code" in call:
        sys.stdout.write(BEGUN + "\n")
        sys.stdout.flush()
    token = os.urandom(HEAD // 2)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _serve(call, writing, token)
        finally:
            os._exit(1)
    os.close(writing)
    report = _listen(pid, reading, token)
    sys.stdout.write(report + "\n" + proof + "\n")
    sys.stdout.flush()


def _guard_self() -> None:
    """Keep the function from opening the files or the memory of this process."""
    import ctypes

    set_dumpable = 4
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(set_dumpable, 0, 0, 0, 0)


def _protect(folder: str) -> None:
    """Make all files of the suite read-only."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            os.chmod(os.path.join(place, name), 0o400)
        os.chmod(place, 0o500)


def _listen(pid: int, fd: int, token: bytes) -> str:
    """Wait for the child's message, or for its end; return the report as JSON."""
    import json
    import select
    import signal

    data, code = b"", None
    while not _complete(data) and len(data) <= HEAD + MOST:
        if select.select([fd], [], [], 0.02)[0]:
            piece = os.read(fd, 65536)
            if not piece:
                break
            data += piece
        elif code is not None:
            break
        else:
            done, status = os.waitpid(pid, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if done else None
    if _complete(data) and data.startswith(token):
        if code is None:
            os.kill(pid, signal.SIGKILL)
        return data[HEAD:].decode("ascii")
    if data:
        return json.dumps({"error": "wrote into the channel of its own report"})
    if code is None:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    how = f"signal {-code}" if code < 0 else f"exit status {code}"
    return json.dumps({"error": f"ended its process ({how}) without returning"})


def _complete(data: bytes) -> bool:
    if len(data) < HEAD:
        return False
    try:
        return len(data) == HEAD + int(data[HEAD // 2 : HEAD], 16)
    except ValueError:
        return False


def _serve(call: Any, fd: int, token: bytes) -> None:
    """Call the function, and send what it gave."""
    import json

    own = os.getpid()
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.closerange(3, fd)
    os.closerange(fd + 1, 4096)
    os.chdir(CASE)
    folder = os.getcwd()
    try:
        if "code" in call:
            message = json.dumps(_checked(call, folder))
        else:
            message = json.dumps(_outcome(_returned(call, folder)))
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - whatever ends the function is its outcome
        message = json.dumps({"error": _described(error, call.get("module"), folder + os.sep)})
    if os.getpid() != own:  # a child that came back from a fork of its own
        os._exit(1)
    data = message.encode("ascii")
    data = token + b"%016x" % len(data) + data
    while data:
        data = data[os.write(fd, data) :]
    os._exit(0)


def _returned(call: Any, folder: str) -> Any:
    """Import the module under its full name, and call its function."""
    import importlib

    parts = call["module"].split(".")
    sys.path.insert(0, folder)
    sys.path.append(os.path.join(folder, *parts[:-1]))
    sys.dont_write_bytecode = True
    module = importlib.import_module(call["module"])
    return getattr(module, call["func"])(*call["args"])


def _checked(call: Any, folder: str) -> dict[str, Any]:
    """Run a snippet: as the body of a function where it returns something, else as a script."""
    import ast
    import json
    import linecache
    import types

    # What an agent left lies last, so that it cannot stand in for a module of the library.
    sys.path.append(folder)
    sys.dont_write_bytecode = True
    code = call["code"]
    linecache.cache[SNIPPET] = (len(code), None, code.splitlines(True), SNIPPET)
    tree = ast.parse(code, SNIPPET)
    if call["returns"]:
        wrapper = ast.parse(f"def check({', '.join(VARIABLES)}): pass")
        wrapper.body[0].body = tree.body  # type: ignore[attr-defined]
        tree = wrapper
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    variables = dict(call["variables"])
    variables["chat_history"] = [_message(*pair) for pair in variables["chat_history"]]
    names = {"json": json, "os": os, "sys": sys, "AIMessage": AIMessage, **variables}
    module.__dict__.update(names, HumanMessage=HumanMessage)
    exec(compile(tree, SNIPPET, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # nosec B102
    if not call["returns"]:
        return {"hit": True}
    value = module.check(*(variables[name] for name in VARIABLES))
    kind = type(value)
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")):
        return {"hit": bool(value)}
    return {"error": f"returned {_shown(value)}, not True or False"}


class BaseMessage(dict):  # type: ignore[type-arg]
    """Be what was said, with the attributes of LangChain's messages, or as a mapping."""

    type = ""

    def __init__(self, content: str) -> None:
        super().__init__(type=self.type, content=content)
        self.content = content


class AIMessage(BaseMessage):
    """Be what the user said, who may be played by a model."""

    type = "ai"


class HumanMessage(BaseMessage):
    """Be what the agent said: to a user who is played by a model, the agent is the human."""

    type = "human"


def _message(role: str, content: str) -> BaseMessage:
    return HumanMessage(content) if role == "assistant" else AIMessage(content)


def _outcome(value: Any) -> dict[str, Any]:
    """Check the shape of what a function returned."""
    import json
    import math

    if not isinstance(value, tuple | list) or len(value) != 3:
        return {"error": f"returned {_shown(value)}, not (points, full marks, detail)"}
    numbers = []
    for name, number in zip(("points", "full marks"), value[:2], strict=True):
        if not hasattr(type(number), "__float__") or not math.isfinite(float(number)):
            return {"error": f"returned {_shown(number)} as its {name}, not a finite number"}
        numbers.append(float(number))
    if numbers[1] < 0:
        return {"error": f"returned {_shown(value[1])} as its full marks, less than nothing"}
    outcome = {"points": numbers[0], "out_of": numbers[1], "detail": _plain(value[2], 0)}
    if len(json.dumps(outcome)) > MOST:
        outcome["detail"] = _shown(outcome["detail"], MOST // 12) + " [cut: too long]"
    return outcome


def _plain(value: Any, depth: int) -> Any:
    """Return a value as JSON has it; what JSON does not have as its repr."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and abs(value) < 2**53:
        return int(value)
    if isinstance(value, float) and value - value == 0:
        return float(value)
    if isinstance(value, dict) and depth < 50:
        return {str(key): _plain(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple) and depth < 50:
        return [_plain(part, depth + 1) for part in value]
    return _shown(value, 2000)


def _shown(value: Any, most: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"


def _described(error: BaseException, module: str | None, folder: str) -> str:
    """Name an exception, and the line of the suite's module where it came from."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)[:500]
    except Exception:  # noqa: BLE001 - an exception of the suite may be broken itself
        text = ""
    description = f"{type(error).__name__}: {text}" if text else type(error).__name__
    own = SNIPPET if module is None else folder + module.replace(".", os.sep) + ".py"
    places = []
    trace = error.__traceback__
    while trace is not None:
        places.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno or 0))
    mine = [place for place in places if place[0] == own]
    near = mine or [place for place in places if place[0].startswith(folder)]
    if not near:
        return description
    file, line = near[-1]
    if file == SNIPPET:
        return f"{description} (line {line})"
    return f"{description} (line {line} of {file.removeprefix(folder)})"
