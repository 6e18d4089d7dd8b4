// Reads where nothing is.
int main(void) { return *(volatile int *)8; }
