# Takes memory as shared memory that no process has mapped.
import contextlib
from pathlib import Path

number = 0
with contextlib.suppress(OSError):
    while True:
        Path(f"/dev/shm/{number}").write_bytes(b"x" * 1_000_000)
        number += 1
print("ESCAPED" if number > 20 else "refused", number)
raise SystemExit(1)
