"""The methods as Prefect flows, what drives them, and the faces people use."""

import os

# Before Prefect is imported by anything here: importing Assay tells nobody anything.
os.environ.setdefault("DO_NOT_TRACK", "1")
