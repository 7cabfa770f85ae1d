"""Requirements as installers may be given them: a name and versions, and nothing that acts.

An installer takes options, paths, addresses and files of further requirements in the same place
as names. None of these passes here.
"""

import re
from urllib.parse import urlsplit

from state.values.code_plan import Requirement
from state.values.errors import InvalidRequest

# PEP 508 names with extras, and PEP 440 specifiers.
_PYPI_NAME = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[[A-Za-z0-9._, -]*\])?"
)
_PYPI_VERSION = r"[0-9A-Za-z](?:[0-9A-Za-z.+!*_-]{0,60})"
_PYPI_CLAUSE = rf"\s*(?:===|==|~=|!=|<=|>=|<|>)\s*{_PYPI_VERSION}\s*"
_PYPI_SPECIFIER = re.compile(rf"{_PYPI_CLAUSE}(?:,{_PYPI_CLAUSE}){{0,9}}")
_NPM_NAME = re.compile(r"(?:@[a-z0-9][a-z0-9._~-]{0,100}/)?[A-Za-z0-9][A-Za-z0-9._~-]{0,100}")
_NPM_CLAUSE = r"(?:[\^~]|[<>]=?|=)?\s*v?[0-9xX*][0-9A-Za-z.+*-]{0,60}"
_NPM_SPECIFIER = re.compile(rf"{_NPM_CLAUSE}(?:(?:\s+-\s+|\s*\|\|\s*|\s+){_NPM_CLAUSE}){{0,9}}")
_ANY = frozenset({"", "*", "latest", "any"})
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def pypi_requirement(requirement: Requirement) -> str:
    """Return what pip is given: `numpy>=1.26,<3`; a bare version is that version.

    Raises `InvalidRequest` for anything but a name (with extras) and versions of it.
    """
    name, versions = requirement.name.strip(), requirement.specifier.strip()
    if versions.lower() in _ANY:
        versions = ""
    elif re.fullmatch(r"\d[0-9A-Za-z.]*", versions):
        versions = "==" + versions
    if not _PYPI_NAME.fullmatch(name):
        raise _refusal(requirement, "is no name of a Python package")
    if versions and not _PYPI_SPECIFIER.fullmatch(versions):
        raise _refusal(requirement, "asks for what is no version of a Python package")
    return re.sub(r"\s", "", name + versions)


def npm_requirement(requirement: Requirement) -> str:
    """Return what npm is given: `left-pad@^1.3.0`.

    Raises `InvalidRequest` for anything but a name and a range of versions.
    """
    name, versions = requirement.name.strip(), requirement.specifier.strip()
    if not _NPM_NAME.fullmatch(name):
        raise _refusal(requirement, "is no name of an npm package")
    if versions.lower() in _ANY:
        return name
    if not _NPM_SPECIFIER.fullmatch(versions):
        raise _refusal(requirement, "asks for what is no range of versions")
    return f"{name}@{versions}"


def check_index(url: str) -> str:
    """Return the address of a package index if it may be used; '' is the usual one.

    Raises `InvalidRequest` when it is neither https nor on this machine, or holds credentials,
    which whatever is installed could read.
    """
    if not url:
        return url
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise InvalidRequest(
            "the address of the package index holds credentials; use a mirror that needs none"
        )
    local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not (parts.scheme == "https" and parts.hostname) and not local:
        raise InvalidRequest(f"{url!r} is no https address of a package index")
    if re.search(r"[\s\x00-\x1f]", url):
        raise InvalidRequest("the address of the package index has spaces in it")
    return url


def _refusal(requirement: Requirement, why: str) -> InvalidRequest:
    asked = f"{requirement.name} {requirement.specifier}".strip()[:200]
    return InvalidRequest(f"the requirement {asked!r} {why}; nothing was installed")
