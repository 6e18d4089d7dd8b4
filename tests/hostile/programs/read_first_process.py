# Opens what /proc shows of the first process.
import os

for name in ("environ", "mem", "maps", "auxv", "stack", "io", "syscall", "pagemap", "personality"):
    try:
        with open(f"/proc/1/{name}", "rb") as file:
            file.read(16)
        print("ESCAPED", name)
    except OSError as error:
        print("refused", error)
for name in ("fd", "map_files", "root/etc", "cwd/.", "task/1/fd"):
    try:
        os.listdir(f"/proc/1/{name}")
        print("ESCAPED", name)
    except OSError as error:
        print("refused", error)
for name in ("exe", "root", "cwd", "ns/mnt"):
    try:
        print("ESCAPED", os.readlink(f"/proc/1/{name}"))
    except OSError as error:
        print("refused", error)
