"""Run main.py to its end and prove it; runs by itself, inside a sandbox.

It uses the standard library alone and imports nothing of the product.
"""

import linecache
import os
import sys
import traceback
import types

SOURCE = "main.py"


def main() -> None:
    """Run the program as a module that is not the main one, then give back the proof."""
    proof = sys.stdin.readline().strip()[::-1]
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for the program
    write, leave = os.write, os._exit
    sys.argv = [SOURCE]
    sys.path.insert(0, os.getcwd())
    sys.modules.pop("__main__")
    code = 1
    try:
        execute()
        code = 0
    except BaseException:  # noqa: BLE001 - whatever ends a program is its result
        show_error()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:  # noqa: BLE001 - the program may have closed them
        code = 1
    if code == 0:
        write(1, f"\n{proof[::-1]}\n".encode())
    leave(code)


def execute() -> None:
    """Run the program's text."""
    with open(SOURCE, encoding="utf-8", errors="surrogatepass") as file:
        text = file.read()
    linecache.cache[SOURCE] = (len(text), None, text.splitlines(True), SOURCE)
    module = types.ModuleType("program")
    module.__file__ = SOURCE
    sys.modules["program"] = module
    exec(compile(text, SOURCE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # nosec B102


def show_error() -> None:
    """Print the error as Python would, without the frames of this file."""
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


if __name__ == "__main__":
    main()
