"""The commands, one file a family; heavy libraries are imported by the command that needs them."""
