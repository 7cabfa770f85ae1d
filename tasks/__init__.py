"""The verbs of the methods: pure functions, each with one Prefect task around it."""
