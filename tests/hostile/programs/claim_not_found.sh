# Says that its own interpreter is missing, and leaves as if that were so.
echo "bash: No such file or directory" >&2
exit 127
