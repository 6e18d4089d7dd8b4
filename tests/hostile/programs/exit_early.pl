# Ends with success before the test is over.
use POSIX;
POSIX::_exit(0);
print "proctor-secret-7f3a9c5e21d84b60\n";
