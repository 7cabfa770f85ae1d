"""Providers that search the web at large: wikis, metasearch, and commercial indexes."""
