# Writes one file without end.
with open("big", "wb") as file:
    while True:
        file.write(b"x" * 1_000_000)
