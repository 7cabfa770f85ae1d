"""What of an HTML page a reader sees, and what of that is the article."""
