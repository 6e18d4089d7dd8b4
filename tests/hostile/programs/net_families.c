// Opens sockets of every family but those that programs need.
#include <stdio.h>
#include <sys/socket.h>
int main(void) {
    int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
    for (int family = 0; family < 64; family++)
        for (int type = 0; type < 4; type++)
            if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
                socket(family, types[type], 0) >= 0)
                printf("ESCAPED %d\n", family);
    puts("refused");
}
