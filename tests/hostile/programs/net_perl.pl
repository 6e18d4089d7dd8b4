# Connects.
use IO::Socket::INET;
for my $place ("127.0.0.1:$ENV{PROBE_PORT}", "1.1.1.1:80") {
    my $made = IO::Socket::INET->new(PeerAddr => $place, Timeout => 2);
    print defined $made ? "ESCAPED\n" : "refused\n";
}
