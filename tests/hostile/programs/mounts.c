// Mounts, unmounts and changes the root.
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    puts(mount("tmpfs", "/tmp", "tmpfs", 0, 0) == 0 ? "ESCAPED" : "refused");
    puts(mount(0, "/usr", 0, MS_REMOUNT | MS_BIND, 0) == 0 ? "ESCAPED" : "refused");
    puts(umount2("/proc", MNT_DETACH) == 0 ? "ESCAPED" : "refused");
    puts(chroot("/tmp") == 0 ? "ESCAPED" : "refused");
    puts(syscall(SYS_pivot_root, "/sandbox", "/sandbox") == 0 ? "ESCAPED" : "refused");
    puts(syscall(428, -100, "/", 1) >= 0 ? "ESCAPED" : "refused");
    puts(syscall(430, "tmpfs", 0) >= 0 ? "ESCAPED" : "refused");
}
