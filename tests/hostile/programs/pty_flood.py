# Opens terminals until no more can be opened.
import os

held = []
try:
    while len(held) < 100_000:
        held.append(os.openpty())
    print("ESCAPED")
except OSError as error:
    print("refused", error)
