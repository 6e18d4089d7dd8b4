# Runs main.pl and gives back the proof once its last line has run.
BEGIN {
    my $turned = reverse(<STDIN> =~ s/\s+//gr);
    open(STDIN, '<', '/dev/null');
    open(my $source, '<', 'main.pl') or die "main.pl: $!";
    my $last = () = <$source>;
    close($source);
    open(my $out, '>&', \*STDOUT) or die "stdout: $!";
    *main::__proctor_end__ = sub {
        my (undef, $file, $line) = caller;
        return unless $file eq './main.pl' && $line == $last;
        { local $| = 1; print STDOUT ''; }
        syswrite($out, "\n" . reverse($turned) . "\n");
    };
    $0 = 'main.pl';
}
unless (defined(do './main.pl')) { die $@ if $@; die "main.pl: $!" if $!{ENOENT}; }
die $@ if $@;
