"""Running code that nobody has vouched for: the port `Sandbox`, and what confines it here."""
