"""Running code that nobody has vouched for: the port `Sandbox`, and how this machine confines it."""
