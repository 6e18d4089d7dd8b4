# Leaves with the status of a command that may not be run.
print STDERR "perl: Permission denied\n";
exit 126;
