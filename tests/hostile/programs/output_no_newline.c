// Prints without end and without an end of line.
#include <unistd.h>
int main(void) {
    for (;;) write(1, "xxxxxxxxxxxxxxxx", 16);
}
