// Traces the first process.
#include <stdio.h>
#include <sys/ptrace.h>
#include <unistd.h>
int main(void) {
    puts(ptrace(PTRACE_ATTACH, 1, 0, 0) == 0 ? "ESCAPED" : "refused");
    puts(ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0 ? "ESCAPED" : "refused");
}
