# Reads the host's home, its temporary files and those of other programs.
import os
from pathlib import Path

print("ESCAPED" if Path(os.environ["PROBE_FILE"]).exists() else "refused")
print("ESCAPED" if [name for name in os.listdir("/tmp") if "pytest" in name] else "refused")
for place in ("/home", "/var", "/opt", "/srv", "/mnt", "/media", "/boot", "/run", "/sys"):
    print("ESCAPED " + place if os.path.exists(place) else "refused")
