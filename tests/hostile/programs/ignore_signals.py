# Ignores every signal that can be ignored, and sleeps.
import contextlib
import signal
import time

for number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
time.sleep(600)
