"""The ledger for several machines: the same port as the local one, on one PostgreSQL database."""
