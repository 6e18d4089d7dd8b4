# Writes many files, each of which is small enough.
number = 0
while True:
    with open(f"file{number}", "wb") as file:
        file.write(b"x" * 1_000_000)
    number += 1
