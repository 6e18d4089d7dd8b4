# Takes memory by mapping it, past what the heap's own limits see.
import mmap

held = []
while True:
    area = mmap.mmap(-1, 20_000_000)
    area.write(b"x" * 20_000_000)
    held.append(area)
