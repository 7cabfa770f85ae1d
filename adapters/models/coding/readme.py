"""A README that follows from the plan alone, for models too small to be trusted with one."""

from adapters.models.coder import WriteFileInput
from adapters.models.coding.showing import import_of, quantities_of


def readme_by_rule(given: WriteFileInput) -> str:
    """Return what the program is, its files, how to use and test it, and the source's values."""
    parts = [
        f"# {' '.join(given.title.split())}",
        "This program implements what the source of that title describes.",
        "## Files",
        "\n".join(f"- `{each.path}`: {' '.join(each.summary.split())}" for each in given.known),
    ]
    used = [
        f"{how}\n\n{each.interface.strip()}"
        for each in given.known
        if (how := import_of(each.path, each.interface))
    ]
    if used:
        parts += ["## Use", "From this folder:", "```python\n" + "\n\n".join(used) + "\n```"]
    steps = ["python -m pytest -q"]
    if given.requirements:
        steps.insert(0, "python -m pip install -r requirements.txt")
    parts += ["## Test", "```sh\n" + "\n".join(steps) + "\n```"]
    if said := quantities_of(given.quantities):
        parts += ["## Values of the source", said]
    return "\n\n".join(part for part in parts if part) + "\n"
