"""Where docling keeps its values."""
