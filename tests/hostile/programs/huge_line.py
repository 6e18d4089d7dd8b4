# Prints one very long line.
print("x" * 200_000)
