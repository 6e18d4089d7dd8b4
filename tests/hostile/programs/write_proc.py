# Opens all of /proc that belongs to no process for writing.
import os

for folder, folders, names in os.walk("/proc"):
    if folder == "/proc":
        folders[:] = [
            name for name in folders if not name.isdigit() and name not in ("self", "thread-self")
        ]
    for name in names:
        place = os.path.join(folder, name)
        try:
            os.close(os.open(place, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            continue
        if os.stat(place).st_rdev != os.stat("/dev/null").st_rdev:
            print("ESCAPED", place)
print("refused")
