/* Linked with the program: gives back the proof once its own main has returned 0.
 *
 * It asks the kernel itself: a program may have functions of its own by every name of the C library.
 * The proof lies masked, and only the process that began may give it back, once.
 */
#if defined(__x86_64__)
enum { READ = 0, WRITE = 1, GETPID = 39, GETRANDOM = 318 };
static long ask(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
enum { READ = 63, WRITE = 64, GETPID = 172, GETRANDOM = 278 };
static long ask(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#else
#include <sys/syscall.h>
enum { READ = SYS_read, WRITE = SYS_write, GETPID = SYS_getpid, GETRANDOM = SYS_getrandom };
long syscall(long, ...);
static long ask(long number, long a, long b, long c) { return syscall(number, a, b, c); }
#endif

enum { MOST = 256 };
static unsigned char masked[MOST], mask[MOST];
static long length, own, entered;

int __real_main(int, char **, char **);
int fflush(void *);

static void begin(int count, char **words, char **names)
{
    long got;
    (void)count, (void)words, (void)names;
    while (length < MOST && (got = ask(READ, 0, (long)(masked + length), MOST - length)) > 0)
        length += got;
    while (length > 0 && masked[length - 1] <= ' ')
        length--;
    ask(GETRANDOM, (long)mask, MOST, 0);
    for (long i = 0; i < MOST; i++)
        masked[i] ^= mask[i];
    own = ask(GETPID, 0, 0, 0);
}

/* Before every constructor of the program, so that none of them can read what was for us. */
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = begin;

int __wrap_main(int count, char **words, char **names)
{
    unsigned char proof[MOST + 2];
    int status;
    if (entered++)
        return 1;
    status = __real_main(count, words, names);
    fflush((void *)0);
    if (status == 0 && entered == 1 && ask(GETPID, 0, 0, 0) == own) {
        proof[0] = '\n';
        for (long i = 0; i < length; i++)
            proof[1 + i] = masked[i] ^ mask[i];
        proof[length + 1] = '\n';
        if (ask(WRITE, 1, (long)proof, length + 2) < 0)
            return 1;
    }
    return status;
}
