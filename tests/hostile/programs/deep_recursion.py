# Calls itself without end, with the interpreter's own limit taken away.
import sys

sys.setrecursionlimit(10**9)


def down(number):
    """Go one deeper."""
    return [down(number + 1)]


print(max(down(0), key=str))
