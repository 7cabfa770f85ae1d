"""Telling others what became of a run: the port, a webhook, and a fake."""
