// Takes memory in segments that no process holds, and semaphores and queues.
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
int main(void) {
    puts(shmget(IPC_PRIVATE, 1 << 30, IPC_CREAT | 0600) >= 0 ? "ESCAPED shm" : "refused");
    puts(semget(IPC_PRIVATE, 1000, IPC_CREAT | 0600) >= 0 ? "ESCAPED sem" : "refused");
    puts(msgget(IPC_PRIVATE, IPC_CREAT | 0600) >= 0 ? "ESCAPED msg" : "refused");
}
