"""The methods as Prefect flows, what drives them, and the faces people use."""
