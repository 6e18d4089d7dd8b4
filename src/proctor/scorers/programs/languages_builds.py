"""How programs and their launchers are built, and the lines between an answer and its test."""

from proctor.core.program import AID

WRAP = "-Wl,--wrap=main"
_OWN = (
    "abort|exit|_exit|_Exit|quick_exit|__assert_fail|__assert|__assert_perror_fail"
    "|__cxa_throw|__cxa_rethrow|__cxa_allocate_exception"
)
_COMPARING = "strcmp|strncmp|memcmp|abs|fabs"
_COMPILE = r"""
source=$1 flags=$2
text=$(cat "$source"; echo .) && rm "$source" || exit 1
compile() {
  printf '#line 1 "%s"\n%s' "$source" "${text%.}" | "$0" -w -pthread $flags $preamble "$@" -
}
compile -c -o main.o 2>/dev/null || {
  printf '%s' "${text%.}" >"$source"
  "$0" -w -pthread $preamble -c "$source" && echo "error: the program takes in its own source" >&2
  exit 1
}
named() { nm main.o | sed -nE "s/.* [A-TV-Za-z] ($1)\$/\1/p"; }
own=$(named '@FAILING@')
if [ -n "$own" ]; then
  echo "error: the program has its own" $own "for that of the C library" >&2
  exit 1
fi
case $text in *assert*)
  calls() { nm "$1" | grep -q ' U __assert_fail$'; }
  if ! calls main.o && compile -c -o probe.o -DPROCTOR_PROBES 2>/dev/null &&
    nm probe.o | grep -q proctor_probe && ! calls probe.o; then
    echo "error: the program gives __assert_fail another name" >&2
    exit 1
  fi
esac
if [ -n "$(named '@COMPARING@')" ] && [ "$(nm main.o | grep -c ' [Tt] ')" -gt 2 ]; then
  compile -c -o main.o -DPROCTOR_COMPARES 2>/dev/null || compile -c -o main.o
fi
""".replace("@FAILING@", _OWN).replace("@COMPARING@", _COMPARING)
"""How a source is compiled that lies in no file while it is, so that it cannot take itself in.

A program must not have functions of its own for those by which a test fails. Where it has some for
those by which a test compares, beside what is tested, the test gets others.
"""
C_BUILD = f"""
{_COMPILE}
exec "$0" -w -o main launch.c main.o {WRAP} -lm -pthread
"""
CPP_BUILD = f"""
launch="-x c launch.c -x none"
preamble=
if [ -e {AID}/launch.o ]; then
  launch={AID}/launch.o
  preamble="-include {AID}/preamble.hpp"
fi
{_COMPILE}
exec "$0" -w -o main $launch main.o {WRAP} -pthread
"""
CPP_AID = """
"$0" -w -pthread -x c++-header preamble.hpp -o preamble.hpp.gch && "$0" -w -x c -c launch.c
"""
RUST_CHECK = r"""
if grep -Eq '\binclude_(str|bytes)\b|\binclude[[:space:]]*!|\binclude[[:space:]]+as\b' main.rs; then
  echo "error: the program takes in a file as its own source" >&2
  exit 1
fi
"""
HASKELL_CHECK = r"""
if grep -Eq 'TemplateHaskell|QuasiQuotes|OPTIONS_GHC.*(-pgm|-F|-fplugin|-XCPP)' main.hs ||
  { grep -Eq 'LANGUAGE.*\bCPP\b' main.hs && grep -Eq '^#[[:space:]]*(define|include)' main.hs; }
then
  echo "error: the program changes its own source while it is compiled" >&2
  exit 1
fi
"""
GO_BUILD = """
if grep -Eq '^[[:space:]]*//go:(linkname|embed)' main.go; then
  echo "error: the program reaches into other packages, or takes in its own source" >&2
  exit 1
fi
mkdir -p /tmp/go/src && cp -r guard /tmp/go/src && exec "$0" build -o main launch.go main.go
"""
_MACROS = ("assert", "assert_eq", "assert_ne", "panic", "debug_assert", "unreachable")
RUST_MACROS = " ".join(
    f"#[allow(unused_macros)] macro_rules! {name}"
    f" {{ ($($all:tt)*) => {{ ::std::{name}!($($all)*) }} }}"
    for name in _MACROS
)
"""The last macro of a name is the one that counts."""

# What an answer took of the language is given back before its test begins.
_BUILTINS = (
    ": . [ alias bg bind break builtin caller cd command compgen complete continue declare dirs"
    " disown echo enable eval exec exit export false fg getopts hash help history jobs kill let"
    " local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt"
    " source suspend test times trap true type typeset ulimit umask unalias unset wait"
)
_TOOLS = "grep egrep fgrep cmp diff expr"
"""Programs by which tests compare."""
BASH_JOINT = (
    # In this mode no function goes before the shell's unset and trap; quoted names are no alias.
    f"POSIXLY_CORRECT=1; \\unset -f {_BUILTINS} {_TOOLS} || \\exit 1; \\trap - DEBUG RETURN EXIT;"
    " \\unset POSIXLY_CORRECT; \\unalias -a; \\shopt -u extdebug expand_aliases;"
    ' PATH=$__proctor_path; trap \'__proctor_fail__ "$LINENO" "$BASH_COMMAND"\' ERR'
)
_PERL = "abs int sqrt length join lc uc index substr sort reverse keys values caller"
PERL_JOINT = (
    f"; BEGIN {{ delete @CORE::GLOBAL::{{qw(die exit warn print sprintf ref {_PERL})}}; %^H = ();"
    " $^H &= ~0x1F000; delete @main::{qw(die exit)};"
    # A function that was imported goes before the language's own; one that was only defined, not.
    f" for my $name (qw({_PERL})) {{ next unless exists $main::{{$name}}; require B;"
    " delete $main::{$name}"
    ' if B::svref_2object(\\*{"main::$name"})->GvFLAGS & B::GVf_IMPORTED_CV(); }'
    " } $SIG{__DIE__} = 'DEFAULT';"
)
LUA_NAMES = "assert, error, type, tostring, tonumber, pairs, ipairs, pcall, rawequal, select"
LUA_JOINT = f"local {LUA_NAMES} = ...; (select({LUA_NAMES.count(',') + 3}, ...))()"
PHP_JOINT = "; declare(ticks=0); " + " ".join(
    rf"@\ini_set('{name}', '1');"
    for name in ("zend.assertions", "assert.active", "assert.exception")
)
