"""How programs of compiled languages are built together with their launchers."""

from proctor.core.program import AID

WRAP = "-Wl,--wrap=main"
_OWN = "abort|exit|_exit|_Exit|quick_exit|__assert_fail|__assert|__assert_perror_fail"
_CHECK = rf"""
own=$(nm main.o | sed -nE 's/.* [A-TV-Za-z] ({_OWN})$/\1/p')
if [ -n "$own" ]; then
  echo "error: the program has its own" $own "for that of the C library" >&2
  exit 1
fi
"""
"""A program must not have functions of its own for those by which a test fails."""
C_BUILD = f"""
"$0" -w -pthread -c main.c || exit 1
{_CHECK}
exec "$0" -w -o main launch.c main.o {WRAP} -lm -pthread
"""
CPP_BUILD = f"""
launch="-x c launch.c -x none"
preamble=
if [ -e {AID}/launch.o ]; then
  launch={AID}/launch.o
  preamble="-include {AID}/preamble.hpp"
fi
"$0" -w -pthread $preamble -c main.cpp || exit 1
{_CHECK}
exec "$0" -w -o main $launch main.o {WRAP} -pthread
"""
CPP_AID = """
"$0" -w -pthread -x c++-header preamble.hpp -o preamble.hpp.gch && "$0" -w -x c -c launch.c
"""
GO_BUILD = """
mkdir -p /tmp/go/src && cp -r guard /tmp/go/src && exec "$0" build -o main launch.go main.go
"""
_MACROS = ("assert", "assert_eq", "assert_ne", "panic", "debug_assert", "unreachable")
RUST_MACROS = " ".join(
    f"#[allow(unused_macros)] macro_rules! {name}"
    f" {{ ($($all:tt)*) => {{ ::std::{name}!($($all)*) }} }}"
    for name in _MACROS
)
"""The last macro of a name is the one that counts."""
