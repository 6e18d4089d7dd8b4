# Puts a link to a folder of the system on the way to a kept file.
import os

os.symlink("/etc", "folder")
