"""The `Researcher` that asks a language model, and believes nothing it cannot show."""
