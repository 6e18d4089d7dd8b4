# Makes its folder read-only, so that a file cannot be hidden from the next step.
import os

os.chmod(".", 0o500)
