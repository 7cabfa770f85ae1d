"""How bytes become text with blocks: the `Converter` port, its implementations and its fake."""
