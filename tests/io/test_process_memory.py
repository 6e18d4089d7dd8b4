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


TRIMMED = """
import sys
sys.argv = ["", ""]
exec(sys.stdin.read())
from proctor.io.process_memory import trim_memory
small = [bytearray(20_000) for _ in range(5_000)]
kept = small[::50]
small.clear()
before = resident()
trim_memory()
print(before - resident())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about glibc")
def test_what_is_free_between_small_blocks_goes_back() -> None:
    command = [sys.executable, "-c", TRIMMED]
    told = subprocess.run(command, capture_output=True, check=True, text=True, input=PROGRAM)
    assert int(told.stdout.split()[-1]) > 60


WITHOUT = """
import sys
from proctor.io.process_memory import without_pandas

with without_pandas():
    import pyarrow
    assert pyarrow.array([1, 2]).to_numpy().sum() == 3
    assert "pandas" not in sys.modules
    try:
        import pandas
    except ModuleNotFoundError as error:
        assert error.name == "pandas"
    else:
        raise AssertionError("it was imported")
    import json.tool
assert sys.meta_path[0].__class__.__name__ != "_Absent"
"""


def test_a_server_does_not_load_pandas_with_its_first_array() -> None:
    pytest.importorskip("pyarrow")
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)
