# Reads the kernel's memory and its log.
for place in ("/proc/kcore", "/proc/kmsg", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg"):
    try:
        with open(place, "rb", buffering=0) as file:
            data = file.read(64)
        print("ESCAPED" if data else "refused", place)
    except OSError as error:
        print("refused", error)
