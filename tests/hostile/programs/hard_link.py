# Makes hard links to files of the system.
import os

for place in ("/usr/bin/su", "/etc/passwd", "/proctor/supervise.py", "/proc/self/exe"):
    try:
        os.link(place, "linked")
        print("ESCAPED", place)
    except OSError as error:
        print("refused", error)
