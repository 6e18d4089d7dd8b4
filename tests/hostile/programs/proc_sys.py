# Changes the kernel's settings.
import os

for folder, _, names in os.walk("/proc/sys"):
    for name in names:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            print("ESCAPED", folder, name)
        except OSError:
            continue
for place in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/irq/0/smp_affinity"):
    try:
        os.close(os.open(place, os.O_WRONLY))
        print("ESCAPED", place)
    except OSError as error:
        print("refused", error)
