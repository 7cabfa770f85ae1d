"""The verbs of the methods: pure functions, each with one Prefect task around it."""

import os

# Before Prefect is imported by anything here: importing Assay tells nobody anything.
os.environ.setdefault("DO_NOT_TRACK", "1")
