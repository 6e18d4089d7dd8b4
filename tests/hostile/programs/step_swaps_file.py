# Puts a folder in the place of a file that is to be hidden from the next step.
import os

os.rename("hidden.txt", "elsewhere")
os.mkdir("hidden.txt")
open("hidden.txt/x", "w").close()
