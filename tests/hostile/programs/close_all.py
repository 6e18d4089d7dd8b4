# Closes every file it has and every number there is, then leaves as a missing command does.
import os

os.closerange(0, 65536)
os._exit(127)
