// Calls what opens the kernel: keys, programs in it, counters, rings, faults, modules.
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static void attempt(const char *name, long answer) {
    printf("%s %s\n", answer >= 0 ? "ESCAPED" : "refused", name);
}
int main(void) {
    char room[128];
    memset(room, 0, sizeof room);
    attempt("keyctl", syscall(SYS_keyctl, 0, -3, 1));
    attempt("add_key", syscall(SYS_add_key, "user", "x", "x", 1, -3));
    attempt("request_key", syscall(SYS_request_key, "user", "x", 0, -3));
    attempt("bpf", syscall(SYS_bpf, 5, room, sizeof room));
    attempt("perf", syscall(SYS_perf_event_open, room, 0, -1, -1, 0));
    attempt("io_uring", syscall(425, 4, room));
    attempt("aio", syscall(SYS_io_setup, 1000, room));
    attempt("userfaultfd", syscall(SYS_userfaultfd, 1));
    attempt("init_module", syscall(SYS_init_module, room, 1, ""));
    attempt("kexec", syscall(SYS_kexec_load, 0, 0, 0, 0));
    attempt("fanotify", syscall(SYS_fanotify_init, 0, 0));
    attempt("syslog", syscall(SYS_syslog, 3, room, sizeof room));
    attempt("acct", syscall(SYS_acct, "/tmp/acct"));
    attempt("swapon", syscall(SYS_swapon, "/tmp/x", 0));
    attempt("quotactl", syscall(SYS_quotactl, 0, 0, 0, 0));
    attempt("personality", syscall(SYS_personality, 0x0040000));
    attempt("kcmp", syscall(SYS_kcmp, 1, 1, 0, 0, 0));
}
