"""Values every room may use; the standard library only."""
