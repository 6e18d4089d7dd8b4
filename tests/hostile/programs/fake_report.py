# Writes a report of success to every open file, and fails.
import contextlib
import os

report = b'{"code": 0, "step": 0, "finished": true, "stopped": null, "out": "FORGED", "err": ""}\n'
for number in range(4096):
    with contextlib.suppress(OSError):
        os.write(number, report)
os._exit(7)
