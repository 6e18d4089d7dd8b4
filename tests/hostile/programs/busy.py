# Computes without end.
while True:
    pass
