"""What people say of scores: in which order they are asked, what follows from it, files of it."""
