/* Stands between an answer and its test: what the answer defined over the language goes. */
#undef main
#undef NDEBUG
#ifdef assert
#include <assert.h>
#endif
#undef if
#undef else
#undef for
#undef while
#undef do
#undef switch
#undef case
#undef default
#undef return
#undef break
#undef continue
#undef goto
#undef int
#undef char
#undef long
#undef short
#undef float
#undef double
#undef void
#undef signed
#undef unsigned
#undef const
#undef struct
#undef sizeof
#undef static
#undef extern
#undef exit
#undef abort
#undef _exit
#undef _Exit
#undef quick_exit
#undef __assert_fail
#undef __assert
#undef strcmp
#undef strncmp
#undef memcmp
#undef fabs
#undef abs
#undef printf
#ifdef PROCTOR_PROBES
#include <assert.h>
void proctor_probe(void) { __assert_fail("", "", 0, ""); }
#endif
#ifdef PROCTOR_COMPARES
#include <math.h>
#include <stdlib.h>
#include <string.h>
static int proctor_memcmp(const void *a, const void *b, size_t count)
{
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    for (; count > 0; count--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}
static int proctor_strncmp(const char *a, const char *b, size_t count)
{
    for (; count > 0; count--, a++, b++)
        if (*a != *b || *a == 0)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}
static int proctor_strcmp(const char *a, const char *b) { return proctor_strncmp(a, b, (size_t)-1); }
static int proctor_abs(int x) { return x < 0 ? -x : x; }
static double proctor_fabs(double x) { return x < 0 ? -x : x; }
#define memcmp proctor_memcmp
#define strncmp proctor_strncmp
#define strcmp proctor_strcmp
#define fabs proctor_fabs
#ifndef __cplusplus
#define abs proctor_abs
#else
namespace std { using ::proctor_memcmp; using ::proctor_strncmp; using ::proctor_strcmp; using ::proctor_fabs; }
#endif
#endif
#ifdef EXIT_FAILURE
#undef EXIT_FAILURE
#define EXIT_FAILURE 1
#endif
#ifdef EXIT_SUCCESS
#undef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#endif
#ifdef __cplusplus
#undef bool
#undef true
#undef false
#undef throw
#undef try
#undef catch
#undef class
#undef auto
#undef operator
#undef namespace
#undef using
#undef static_cast
#endif
