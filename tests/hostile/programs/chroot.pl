# Changes its root and climbs out of it.
mkdir "jail";
print chroot("jail") ? "ESCAPED\n" : "refused\n";
my $jail = "jail";
print syscall(161, $jail) == 0 ? "ESCAPED\n" : "refused\n";
