"""What runs inside of the sandbox, beside the tests, and counts them: scripts, never imported."""
