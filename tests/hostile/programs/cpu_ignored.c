// Ignores the signal that says its processor time is over.
#include <signal.h>
int main(void) {
    signal(SIGXCPU, SIG_IGN);
    for (volatile long turn = 0;; turn++) {}
}
