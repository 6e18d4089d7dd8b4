// Reads the passwords.
#include <fcntl.h>
#include <stdio.h>
int main(void) {
    char *names[] = {"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/sudoers", "/etc/hosts",
                     "/proc/1/root" "/etc/shadow", "/proc/self/root" "/etc/shadow"};
    for (int at = 0; at < 7; at++)
        printf("%s %s\n", open(names[at], O_RDONLY) >= 0 ? "ESCAPED" : "refused", names[at]);
}
