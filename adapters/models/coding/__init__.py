"""The `Coder` that asks a language model, and what tells code from what only looks like it."""
