# Forks without end.
fork while 1;
