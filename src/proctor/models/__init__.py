"""Models: the clients that put messages to a server, a local file or a cassette."""
