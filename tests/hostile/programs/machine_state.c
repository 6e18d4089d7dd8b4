// Changes the machine: its clock, its name, whether it runs.
#include <stdio.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int main(void) {
    struct timeval now = {1, 0};
    struct timespec then = {1, 0};
    puts(settimeofday(&now, 0) == 0 ? "ESCAPED" : "refused");
    puts(clock_settime(CLOCK_REALTIME, &then) == 0 ? "ESCAPED" : "refused");
    puts(sethostname("owned", 5) == 0 ? "ESCAPED" : "refused");
    puts(setdomainname("owned", 5) == 0 ? "ESCAPED" : "refused");
    puts(syscall(SYS_reboot, 0xfee1dead, 672274793, 0, 0) == 0 ? "ESCAPED" : "refused");
    puts(vhangup() == 0 ? "ESCAPED" : "refused");
}
