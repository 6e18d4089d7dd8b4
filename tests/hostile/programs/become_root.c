// Becomes the superuser.
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void) {
    gid_t none = 0;
    puts(setuid(0) == 0 ? "ESCAPED" : "refused");
    puts(setgid(0) == 0 ? "ESCAPED" : "refused");
    puts(setresuid(0, 0, 0) == 0 ? "ESCAPED" : "refused");
    puts(setgroups(1, &none) == 0 ? "ESCAPED" : "refused");
    puts(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0 ? "ESCAPED" : "refused");
    for (int cap = 0; cap < 41; cap++)
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) == 0) puts("ESCAPED");
}
