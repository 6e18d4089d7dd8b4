"""The other evaluation tools, each in an environment of its own below `.venv-peers`.

`python benchmarks/peers.py` makes those that are missing, or the ones named. Versions are pinned,
so that two tables differ by the machine and by Proctor alone.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("PROCTOR_PEERS", ROOT / ".venv-peers"))
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")


@dataclass(frozen=True)
class Peer:
    """Name a tool, what to install for it, and the program it brings."""

    name: str
    wanted: tuple[str, ...]
    """Requirements, installed one after the other."""
    program: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def mark(self) -> Path:
        """Where a finished installation says what it has."""
        return self.folder / "installed.json"

    def installed(self) -> bool:
        """Whether just what is wanted is there."""
        try:
            return json.loads(self.mark.read_text(encoding="utf-8")) == list(self.wanted)
        except (OSError, ValueError):
            return False

    def install(self) -> str:
        """Make the environment, and return what went wrong, if anything did."""
        steps = [[sys.executable, "-m", "venv", "--clear", str(self.folder)]]
        steps += [[str(self.bin / "python"), *PIP, one] for one in self.wanted]
        for step in steps:
            ran = subprocess.run(step, capture_output=True, text=True, check=False)
            if ran.returncode:
                errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
                return (errors or ran.stderr.splitlines() or ["no reason given"])[-1]
        self.mark.write_text(json.dumps(self.wanted), encoding="utf-8")
        return ""


PEERS = {
    peer.name: peer
    for peer in (
        Peer("inspect-ai", ("inspect-ai==0.3.285", "openai==3.49.0"), "inspect"),
        Peer("lm-eval", ("lm-eval==0.4.13",), "lm_eval"),
        Peer("deepeval", ("deepeval==4.3.1",), "deepeval"),
    )
}


def installed(name: str) -> Peer | None:
    """Return a peer if it is there."""
    return PEERS[name] if PEERS[name].installed() else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PEER", help=", ".join(PEERS))
    names = parser.parse_args().names or list(PEERS)
    missing = 0
    for name in names:
        if PEERS[name].installed():
            continue
        print(f"installing {name} …", flush=True)
        if trouble := PEERS[name].install():
            missing += 1
            print(f"{name} is not compared with: it cannot be installed here ({trouble})")
    return min(missing, 1)


if __name__ == "__main__":
    sys.exit(main())
