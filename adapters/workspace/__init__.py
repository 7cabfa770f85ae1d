"""The folder that code is delivered into, and its git repository."""
