# Puts a folder where a kept file is expected.
import os

os.mkdir("kept")
