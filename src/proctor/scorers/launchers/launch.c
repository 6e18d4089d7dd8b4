/* Linked with the program: gives back the proof once its own main has returned 0. */
#include <stdio.h>
#include <unistd.h>

static char turned[256];
static long length;

int __real_main(int, char **, char **);

static void begin(int count, char **words, char **names)
{
    long got;
    (void)count, (void)words, (void)names;
    while (length < (long)sizeof turned && (got = read(0, turned + length, sizeof turned - length)) > 0)
        length += got;
    while (length > 0 && turned[length - 1] <= ' ')
        length--;
    for (long i = 0; i < length / 2; i++) {
        char kept = turned[i];
        turned[i] = turned[length - 1 - i];
        turned[length - 1 - i] = kept;
    }
}

/* Before every constructor of the program, so that none of them can read what was for us. */
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = begin;

int __wrap_main(int count, char **words, char **names)
{
    int status = __real_main(count, words, names);
    fflush(NULL);
    if (status == 0) {
        char proof[sizeof turned + 2] = "\n";
        for (long i = 0; i < length; i++)
            proof[1 + i] = turned[length - 1 - i];
        proof[length + 1] = '\n';
        if (write(1, proof, length + 2) < 0)
            return 1;
    }
    return status;
}
