# Prints errors without end.
while (1) { print STDERR "x" x 1000 }
