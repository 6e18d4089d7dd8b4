# Opens the files of the first process, to write the report itself.
import os

report = b'{"code": 0, "step": 0, "finished": true, "stopped": null, "out": "FORGED", "err": ""}'
for target in (1, os.getppid()):
    for number in range(64):
        try:
            with open(f"/proc/{target}/fd/{number}", "wb") as file:
                file.write(report)
            print("ESCAPED", number)
        except OSError:
            continue
raise SystemExit(7)
