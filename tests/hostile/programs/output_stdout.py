# Prints without end.
while True:
    print("x" * 1000)
