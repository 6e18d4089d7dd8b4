"""A process returns what it frees."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from pathlib import Path
from proctor.io.process_memory import return_freed_memory

def resident():
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in one)
    return int(line.split()[1]) // 1024

if sys.argv[1] == "return":
    return_freed_memory()
del (large := [bytearray(20 * 2**20)])[0]  # From now on glibc keeps blocks up to this size.
before, blocks, small = resident(), [], []
for _ in range(100):
    blocks.append(bytearray(b"1") * 2**20)
    small.append(bytearray(100_000))
blocks.clear()
print(resident() - before)
"""


def kept(how: str) -> int:
    """Return how many MiB of 100 a process still has that freed them."""
    command = [sys.executable, "-c", PROGRAM, how]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about glibc")
def test_freed_blocks_go_back_to_the_system() -> None:
    assert kept("as it is") > 80
    assert kept("return") < 30
