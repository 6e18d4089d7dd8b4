# Looks for files that were left open for it.
import os

kept = []
for name in os.listdir("/proc/self/fd"):
    try:
        kept.append((int(name), os.readlink(f"/proc/self/fd/{name}")))
    except OSError:
        continue
print("ESCAPED" if [pair for pair in kept if pair[0] > 2] else "refused", kept)
