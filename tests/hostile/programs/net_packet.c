// Listens to the wire.
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
int main(void) {
    puts(socket(AF_PACKET, SOCK_RAW, htons(3)) >= 0 ? "ESCAPED" : "refused");
    puts(socket(AF_INET, 10, htons(3)) >= 0 ? "ESCAPED" : "refused");
}
