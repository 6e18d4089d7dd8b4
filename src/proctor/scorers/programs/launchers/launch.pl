# Runs main.pl and gives back the proof once its last line has run.
BEGIN {
    my $masked = <STDIN> =~ s/\s+//gr;
    open(STDIN, '<', '/dev/null');
    open(my $random, '<', '/dev/urandom') or die "urandom: $!";
    read($random, my $mask, length $masked);
    close($random);
    $masked ^= $mask;
    open(my $source, '<', 'main.pl') or die "main.pl: $!";
    my $last = () = <$source>;
    close($source);
    open(my $out, '>&', \*STDOUT) or die "stdout: $!";
    my $own = readlink '/proc/self';
    *main::__proctor_end__ = sub {
        my (undef, $file, $line) = caller 0;
        my (undef, $from) = caller 1;
        # From the last line itself, run by this file and by nothing in between, not by a child.
        return unless $file eq './main.pl' && $line == $last && $from eq $0 && !defined caller 2;
        return if readlink '/proc/self' ne $own ;
        open(my $maps, '<', '/proc/self/maps') or return;
        return if grep { m{/Filter/Util/Call} } <$maps>;
        { local $| = 1; print STDOUT ''; }
        syswrite($out, "\n" . ($masked ^ $mask) . "\n");
    };
}
unless (defined(do './main.pl')) { die $@ if $@; die "main.pl: $!" if $!{ENOENT}; }
die $@ if $@;
