"""Where sources are found: the `Search` port, its providers and its fake."""
