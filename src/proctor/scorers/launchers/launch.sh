# Runs main.sh and gives back the proof once its last line has run.
IFS= read -r __proctor_line
__proctor_turned=
while [[ -n $__proctor_line ]]; do
  __proctor_turned=${__proctor_line:0:1}$__proctor_turned
  __proctor_line=${__proctor_line:1}
done
exec </dev/null
mapfile -t __proctor_lines <main.sh
__proctor_last=${#__proctor_lines[@]}
unset __proctor_lines __proctor_line
readonly __proctor_turned __proctor_last
__proctor_fail__() {
  builtin printf 'main.sh: line %s: failed: %s\n' "$1" "$2" >&2
  builtin exit 1
}
__proctor_end__() {
  [[ $(builtin caller 0) == "$__proctor_last source ./main.sh" ]] || builtin return 0
  local text=$__proctor_turned proof=
  while [[ -n $text ]]; do
    proof=${text:0:1}$proof
    text=${text:1}
  done
  builtin printf '\n%s\n' "$proof"
}
readonly -f __proctor_fail__ __proctor_end__
. ./main.sh
