"""Processes that Proctor starts for itself, and programs it looks for: no suite has a say in them.

Many tools obey files of the folder that they are started in (``rust-toolchain.toml``, ``.npmrc``,
``.python-version``, ``go.mod``), or variables that name code to load. So each is started by its
whole path, outside of every suite, with the variables that it needs and no others.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from proctor.io import search_paths
from proctor.io.search_paths import SEARCHED, absolute_entries

OUTSIDE = "/"
"""The folder that processes are started in: no suite lies there, and only root may write to it."""
PROBE_LIMIT = 60.0
MOST_OUTPUT = 1024 * 1024
"""Characters of a tool's output that are kept."""
SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL")
_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]*@")
_WORDS = ("USER", "LOGNAME", "RUSTUP_TOOLCHAIN")
_PLACES = (
    "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    # Where those who keep several versions of a tool have them.
    "ASDF_DATA_DIR", "ASDF_DIR", "CARGO_HOME", "DEVELOPER_DIR", "GOROOT", "JAVA_HOME",
    "KOTLIN_HOME", "MISE_DATA_DIR", "NPM_CONFIG_PREFIX", "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT",
    "RUSTUP_HOME", "SDKMAN_DIR", "VOLTA_HOME", "npm_config_prefix",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What came of a program that was run to its end."""

    code: int | None
    """Its exit status; none where it could not be started, or took too long."""
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    """Why it has no exit status."""


def find_program(*names: str, path: str | None = None) -> str:
    """Return where the first of these programs lies that is on the path; empty where none is.

    Entries of the path that are empty or relative are passed over: a suite's folder would be
    searched.
    """
    search = absolute_entries(os.environ.get("PATH", os.defpath) if path is None else path)
    return next((program for name in names if (program := shutil.which(name, path=search))), "")


def tool_environment(more: Iterable[str] = ()) -> dict[str, str]:
    """Return what a tool of this machine may know: where things are, and nothing that is secret.

    Besides the usual variables it is given those named; a name that ends in ``*`` stands for all
    that begin so.
    """
    named = tuple(more)
    variables = {
        name: value
        for name, value in _searched_absolutely(os.environ).items()
        if _is_named(name, ("PATH", *_WORDS, *named)) or (name in _PLACES and os.path.isabs(value))
    }
    return {**variables, "LANG": "C.UTF-8", "RUSTUP_AUTO_INSTALL": "0"}


def own_environment(*, keys: bool) -> dict[str, str]:
    """Return the environment of a process that runs a module of ours, with or without keys."""
    variables = {
        name: value
        for name, value in _searched_absolutely(os.environ).items()
        if name != search_paths.MODULES and (keys or not is_secret(name, value))
    }
    modules = search_paths.absolute_modules()
    return {**variables, **({search_paths.MODULES: modules} if modules else {})}


def is_secret(name: str, value: str = "") -> bool:
    """Tell whether a variable holds a key or a password, by its name or as part of an address."""
    return any(word in name.upper() for word in SECRET_WORDS) or bool(_PASSWORD.search(value))


def own_module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of ours, or pip, without a working directory."""
    return [sys.executable, "-P", "-m", name, *arguments]


def probe(
    argv: Sequence[str],
    *,
    seconds: float = PROBE_LIMIT,
    env: Mapping[str, str] | None = None,
    prepare: Callable[[], None] | None = None,
) -> Probed:
    """Run a program of this machine to its end, outside of every suite, and return what it says."""
    try:
        process = popen(
            argv,
            env=tool_environment() if env is None else env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=prepare,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Probed(code=None, error=str(error))
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return Probed(code=None, error=f"{argv[0]} took longer than {seconds:g} s")
    finally:
        if process.returncode is None:
            # Whatever it has started goes with it, and no pipe stays open.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return Probed(code=process.returncode, stdout=_text(out), stderr=_text(err))


def popen(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: str = OUTSIDE, **how: Any
) -> "subprocess.Popen[bytes]":
    """Start a program by its whole path; it goes on beside this process."""
    return subprocess.Popen(_whole(argv), env=dict(env), cwd=cwd, **how)  # noqa: S603


async def spawn(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: str = OUTSIDE, **how: Any
) -> asyncio.subprocess.Process:
    """Start a program by its whole path, for a loop to wait for."""
    return await asyncio.create_subprocess_exec(*_whole(argv), env=dict(env), cwd=cwd, **how)


def _whole(argv: Sequence[str]) -> Sequence[str]:
    if not os.path.isabs(argv[0]):
        raise FileNotFoundError(f"there is no program {argv[0] or '(none)'}")
    return argv


def _searched_absolutely(environment: Mapping[str, str]) -> dict[str, str]:
    searched = {name: absolute_entries(environment.get(name, "")) for name in SEARCHED}
    searched["PATH"] = searched["PATH"] or os.defpath
    others = {name: value for name, value in environment.items() if name not in SEARCHED}
    return {**others, **{name: value for name, value in searched.items() if value}}


def _is_named(name: str, named: Sequence[str]) -> bool:
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in named)


def _text(data: bytes) -> str:
    return data[:MOST_OUTPUT].decode("utf-8", "replace")
