# Prints what changes a terminal: titles, colours, the clipboard, keys typed back.
import os

os.write(1, b"\x1b]0;owned\x07\x1b[2J\x1b]52;c;b3duZWQ=\x07\x1b[6n\x1bP$q\x1b\\\x9b31m\r\x08\x7f")
os.write(2, b"\x1b[?1049h\x1b[5i")
