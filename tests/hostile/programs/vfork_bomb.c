// Makes processes by vfork without end.
#include <unistd.h>
int main(void) {
    for (;;) {
        if (vfork() == 0) {
            execl("/bin/sleep", "sleep", "60", (char *)0);
            _exit(1);
        }
    }
}
