// Takes memory as fast as the machine gives it.
#include <stdlib.h>
#include <string.h>
int main(void) {
    for (;;) {
        char *held = malloc(1 << 20);
        if (held) memset(held, 1, 1 << 20);
    }
}
