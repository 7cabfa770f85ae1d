"""The world: one folder or file per port, each with its protocol, implementations and fake."""
