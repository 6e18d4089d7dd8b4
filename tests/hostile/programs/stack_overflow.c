// Fills its stack.
int down(volatile int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return down(depth + 1) + room[0];
}
int main(void) { return down(0); }
