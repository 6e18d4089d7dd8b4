// Writes one file past its limit and dies of it.
#include <fcntl.h>
#include <unistd.h>
int main(void) {
    static char block[1 << 20];
    int file = open("big", O_CREAT | O_WRONLY, 0600);
    for (;;) write(file, block, sizeof block);
}
