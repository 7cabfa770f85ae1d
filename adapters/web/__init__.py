"""The guarded way to the web: the only part of Assay that opens connections to it."""
