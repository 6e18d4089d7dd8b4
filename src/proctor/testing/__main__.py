"""``python -m proctor.testing``: a fake model server as a process of its own."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from proctor.core.suite import Json
from proctor.errors import ProctorError, UsageError
from proctor.io import json_bytes
from proctor.testing.faults import KINDS, Fault, Rule
from proctor.testing.replies import Script, written_script
from proctor.testing.server import FakeServer


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; the first line printed says where."""
    options = _parser().parse_args(arguments)
    try:
        server = _server(options)
        server.start()
    except (ProctorError, OSError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    over = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    sys.stdout.write(json_bytes.dumps({"url": server.url}).decode() + "\n")
    sys.stdout.flush()
    over.wait()
    server.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m proctor.testing",
        description="Serve scripted models on loopback, with the faults that are asked for.",
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes one that is free")
    parser.add_argument("--script", type=Path, help="JSON: replies, roles, rules")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=0, help="of the faults by rate")
    parser.add_argument("--log", type=Path, help="add a line of JSON for each call")
    parser.add_argument("--retry-after", type=float, metavar="SECONDS", help="said with a 429")
    parser.add_argument("--status", type=int, default=500, help="of --error")
    parser.add_argument("--seconds", type=float, default=1.0, help="of --late and --drip")
    for kind in KINDS:
        name = f"--{kind.replace('_', '-')}"
        parser.add_argument(name, type=float, default=0.0, metavar="RATE", dest=f"rate_{kind}")
    return parser


def _server(options: argparse.Namespace) -> FakeServer:
    script, roles, rules = _read(options.script) if options.script else (None, {}, [])
    for kind in KINDS:
        if rate := getattr(options, f"rate_{kind}"):
            after = options.retry_after if kind == "rate_limit" else None
            fault = Fault(
                kind,  # type: ignore[arg-type]
                seconds=options.seconds,
                status=options.status,
                retry_after=after,
            )
            rules.append(Rule(fault=fault, rate=rate))
    return FakeServer(
        script,
        roles=roles,
        any_role=not roles,
        rules=rules,
        seed=options.seed,
        latency=options.latency,
        port=options.port,
        log=options.log,
        keep=False,
    )


def _read(path: Path) -> tuple[Script, dict[str, Script], list[Rule]]:
    data = json_bytes.loads(path.read_bytes())
    keys = ("replies", "roles", "rules")
    if not isinstance(data, dict) or (wrong := sorted(set(data) - set(keys))):
        what = f"unknown key {wrong[0]!r}" if isinstance(data, dict) else "not an object"
        raise UsageError(f"{path}: {what} (known are: {', '.join(keys)})")
    try:
        replies = written_script(data.get("replies"))
        roles = {name: written_script(script) for name, script in data.get("roles", {}).items()}
    except TypeError as error:
        raise UsageError(f"{path}: a reply is written wrongly: {error}") from None
    return (
        replies,
        roles,
        [_rule(item) for item in data.get("rules", ())],
    )


def _rule(item: Json) -> Rule:
    fields = dict(item)
    try:
        fault = fields.pop("fault")
        parsed_fault = Fault(fault) if isinstance(fault, str) else Fault(**fault)  # type: ignore[arg-type]
        fields |= {name: tuple(fields[name]) for name in ("tries", "calls") if name in fields}
        return Rule(fault=parsed_fault, **fields)
    except (KeyError, TypeError) as error:
        raise UsageError(f"a rule is written wrongly: {item} ({error})") from None


if __name__ == "__main__":
    sys.exit(main())
