# Stops, kills and signals the first process and every group that it can name.
import contextlib
import os
import signal

for number in sorted(signal.valid_signals() - {0}):
    for target in (1, os.getppid()):
        with contextlib.suppress(OSError):
            os.kill(target, number)
        with contextlib.suppress(OSError):
            os.killpg(target, number)
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(os.pidfd_open(target), number)
print("still here", flush=True)
os._exit(94)
