"""Reads PDF files: two readers for the text, and the layout for blocks, hidden text and columns."""
