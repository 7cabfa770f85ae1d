"""A researcher without a model: it splits, ranks, quotes and compares, and makes up nothing."""
