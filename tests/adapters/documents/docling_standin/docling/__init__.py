"""Stands in for the package docling: what its callers use of it, and what goes wrong with it."""
