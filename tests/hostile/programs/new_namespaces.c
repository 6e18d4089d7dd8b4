// Makes namespaces of its own, in which it would be the superuser.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    int flags[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
                   CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80};
    for (int at = 0; at < 8; at++) puts(unshare(flags[at]) == 0 ? "ESCAPED" : "refused");
    for (int at = 0; at < 7; at++) {
        long child = syscall(SYS_clone, flags[at] | 17, 0, 0, 0, 0);
        if (child == 0) _exit(0);
        puts(child > 0 ? "ESCAPED" : "refused");
    }
    unsigned long wide = CLONE_NEWUSER | (1UL << 40);
    long child = syscall(SYS_clone, wide | 17, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    puts(child > 0 ? "ESCAPED" : "refused");
    unsigned long arguments[11] = {CLONE_NEWUSER, 0, 0, 0, 17};
    child = syscall(435, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    puts(child > 0 ? "ESCAPED" : "refused");
}
