# Looks for processes that are not its own, and for marks of programs before it.
import os

own = {1, os.getpid(), os.getppid()}
others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in own]
with open("/proc/self/mountinfo") as file:
    shown = [row.split()[4] for row in file]  # what it needs may lie in /tmp
left = [
    f"{place}/{name}"
    for place in ("/tmp", "/dev/shm", "/sandbox", "/dev/mqueue")
    if os.path.isdir(place)
    for name in os.listdir(place)
    if name not in ("main.py", "see_others.py")
    and not any(mount.startswith(f"{place}/{name}") for mount in shown)
]
with open("/proc/net/tcp") as file:
    sockets = file.readlines()[1:]
with open("/proc/net/unix") as file:
    sockets += [row for row in file.readlines()[1:] if "@" in row]
with open("/proc/sysvipc/shm") as file:
    sockets += file.readlines()[1:]
print("ESCAPED" if others or left or sockets else "refused", others, left, sockets)
