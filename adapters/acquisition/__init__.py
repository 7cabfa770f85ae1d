"""Getting hold of what code is made from: a file, an address, a repository, or a requirement."""
