// Takes memory outside of the interpreter's own heap.
const held = [];
for (;;) held.push(Buffer.alloc(10_000_000, 1));
