"""Finding out whether generated code's tests were really run, and passed."""
