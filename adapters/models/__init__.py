"""Who plans, assesses and writes: the `Researcher` port, its implementations and its fake."""
