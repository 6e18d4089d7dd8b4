# Writes to settings of the kernel, each the value that it has.
import os

for place in (
    "/proc/sys/vm/stat_interval", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
    "/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/core/somaxconn", "/proc/sys/kernel/msgmax",
    "/proc/sys/user/max_net_namespaces", "/proc/sys/fs/mqueue/queues_max",
    "/proc/sys/kernel/ns_last_pid", "/proc/pressure/cpu", "/proc/irq/default_smp_affinity",
    "/proc/1/attr/current", "/proc/1/uid_map", "/proc/self/uid_map", "/proc/self/gid_map",
    "/proc/1/mem", "/proc/1/environ", "/proc/1/loginuid",
):  # fmt: skip
    value = b"\n"
    try:
        with open(place, "rb") as file:
            value = file.read(200) or value
    except OSError:
        pass
    try:
        fd = os.open(place, os.O_WRONLY)
    except OSError as error:
        print("refused", error)
        continue
    try:
        os.write(fd, value)
        print("ESCAPED", place)
    except OSError as error:
        print("refused", error)
