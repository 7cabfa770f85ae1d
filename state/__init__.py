"""The memory: events, their projection, the ledger and the artifacts."""
