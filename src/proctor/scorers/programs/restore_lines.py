"""Lines between an answer and its test: what the answer took of the language is given back."""

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
