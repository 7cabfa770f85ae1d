"""How models are talked to: the `ChatModel` port, what stands around it, and its fake."""
