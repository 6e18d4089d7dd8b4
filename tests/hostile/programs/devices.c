// Makes devices for the disks and opens them.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
int main(void) {
    for (int major = 1; major < 260; major++) {
        if (mknod("disk", S_IFBLK | 0666, makedev(major, 0)) == 0 && open("disk", O_RDWR) >= 0)
            printf("ESCAPED %d\n", major);
        if (mknod("raw", S_IFCHR | 0666, makedev(major, 1)) == 0 && open("raw", O_RDWR) >= 0)
            printf("ESCAPED %d\n", major);
    }
    puts("refused");
}
