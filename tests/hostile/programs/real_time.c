// Asks for the processor before everybody else.
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
int main(void) {
    struct sched_param first = {50};
    puts(sched_setscheduler(0, SCHED_FIFO, &first) == 0 ? "ESCAPED" : "refused");
    puts(setpriority(PRIO_PROCESS, 0, -20) == 0 ? "ESCAPED" : "refused");
    puts(mlock(0, 1 << 30) == 0 ? "ESCAPED" : "refused");
}
