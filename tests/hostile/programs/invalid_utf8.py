# Prints what is no text.
import os

os.write(1, bytes(range(256)) + b"\xed\xa0\x80\xf8\x88\x80\x80\x80\xc0\xaf\xff\xfe")
