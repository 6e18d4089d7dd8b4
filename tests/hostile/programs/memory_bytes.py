# Takes memory without end.
held = []
while True:
    held.append(bytearray(b"x") * 10_000_000)
