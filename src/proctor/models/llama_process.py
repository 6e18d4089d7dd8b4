"""A process of its own that serves one GGUF file on loopback, and ends with its parent."""

import ctypes
import importlib
import json
import os
import signal
import sys


def main(arguments: list[str]) -> None:
    """Serve as the one argument says, tell the address on standard output, and wait for the end."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = json.loads(arguments[0])
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.offline = True
    params.ui = False
    params.cache_ram_mib = 0
    params.verbosity = 1
    server = xllamacpp.Server(params)
    output.write(json.dumps({"url": server.listening_address}) + "\n")
    output.flush()
    sys.stdin.buffer.read()
    # The server's own end waits for calls under way; nobody is there to read them any more.
    os._exit(0)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None, use_errno=True).prctl(set_parent_death_signal, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
