"""What Linux offers a process that gives up its own rights: Landlock, seccomp and another user."""
