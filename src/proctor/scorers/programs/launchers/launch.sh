# Runs main.sh and gives back the proof once its last line has run.
# The proof is kept by a process of its own, which is asked for it in the end.
exec 8<&0 9>&1 </dev/null
coproc __proctor_keeper { IFS= read -r kept <&8; read -r word; [[ $word == end ]] && builtin printf '\n%s\n' "$kept" >&9; }
exec 8<&- 9>&-
mapfile -t __proctor_lines <main.sh
__proctor_last=${#__proctor_lines[@]} __proctor_path=$PATH __proctor_own=$BASHPID
exec {__proctor_ask}>&"${__proctor_keeper[1]}" {__proctor_heard}<&"${__proctor_keeper[0]}"
unset __proctor_lines
readonly __proctor_last __proctor_path __proctor_own __proctor_ask __proctor_heard
__proctor_fail__() {
  builtin printf 'main.sh: line %s: failed: %s\n' "$1" "$2" >&2
  builtin exit 1
}
__proctor_end__() {
  [[ $(builtin caller 0) == "$__proctor_last source ./main.sh" && $BASHPID == "$__proctor_own" ]] || builtin return 0
  builtin printf 'end\n' >&"$__proctor_ask"
  exec {__proctor_ask}>&-
  builtin read -r -t 5 -u "$__proctor_heard"
  builtin return 0
}
readonly -f __proctor_fail__ __proctor_end__
. ./main.sh
