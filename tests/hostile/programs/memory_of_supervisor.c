// Reads and writes the memory of the first process, and takes its files.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void) {
    char held[16];
    struct iovec here = {held, 16}, there = {(void *)0x400000, 16};
    puts(process_vm_readv(1, &here, 1, &there, 1, 0) >= 0 ? "ESCAPED" : "refused");
    puts(process_vm_writev(1, &here, 1, &there, 1, 0) >= 0 ? "ESCAPED" : "refused");
    puts(open("/proc/1/mem", O_RDWR) >= 0 ? "ESCAPED" : "refused");
    int handle = syscall(SYS_pidfd_open, 1, 0);
    for (int number = 0; number < 16; number++)
        if (syscall(SYS_pidfd_getfd, handle, number, 0) >= 0) puts("ESCAPED");
}
