"""The files of a workspace that are its own: no links, nothing hidden, vendored or built."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from state.values.errors import RejectedError
from state.values.ids import content_hash

MAX_ENTRIES = 20_000
MAX_DEPTH = 16
MAX_FILE = 8 * 1024 * 1024
# What tools install or cache lies in folders of these names, and what others wrote in those.
INSTALLED = frozenset(
    "node_modules bower_components jspm_packages site-packages dist-packages __pypackages__"
    " __pycache__ venv CVS".split()
)
FOREIGN = INSTALLED | frozenset("vendor _vendor vendored third_party build dist".split())


class WorkspaceTooLarge(RejectedError):
    """The workspace holds more than can be what was generated."""

    code = "WORKSPACE_TOO_LARGE"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a link that is not followed. `path` is relative to the workspace, with `/`."""

    path: str
    is_link: bool = False

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """Return the path of the folder it lies in, `.` for the workspace itself."""
        return self.path.rpartition("/")[0] or "."


@dataclass(frozen=True, slots=True)
class Tree:
    """What a walk found, in order of path: own files, and the folders that were left out."""

    entries: tuple[Entry, ...]
    foreign: tuple[str, ...]

    def under(self, folder: str) -> Iterator[Entry]:
        """Yield what lies in `folder` or below it."""
        start = "" if folder == "." else folder + "/"
        return (entry for entry in self.entries if entry.path.startswith(start))

    def names_in(self, folder: str) -> frozenset[str]:
        """Return the names of the regular files directly in `folder`."""
        return frozenset(
            entry.name for entry in self.entries if entry.folder == folder and not entry.is_link
        )


def walk(workspace: Path, *, foreign: frozenset[str] = FOREIGN) -> Tree:
    """Return the workspace's own files; the same for the same files, whatever the file system.

    Left out are hidden folders, those called one of `foreign`, virtual environments, and what
    Cargo and packaging tools build.

    Links are entries and never followed; sockets, pipes and devices are none, and neither are
    names that are not UTF-8. Raises `WorkspaceTooLarge` beyond 20,000 entries or 16 levels.
    """
    found: list[Entry] = []
    left_out: list[str] = []
    left = MAX_ENTRIES
    folders = [""]
    while folders:
        folder = folders.pop()
        if folder.count("/") > MAX_DEPTH:
            raise WorkspaceTooLarge(f"{folder}: nested deeper than {MAX_DEPTH} folders")
        with os.scandir(workspace / folder) as listing:
            for item in listing:
                left -= 1
                if left < 0:
                    raise WorkspaceTooLarge(f"the workspace has more than {MAX_ENTRIES} entries")
                path = folder + item.name
                if not _is_text(path):
                    continue
                if item.is_symlink():
                    found.append(Entry(path, is_link=True))
                elif item.is_dir(follow_symlinks=False):
                    if _is_foreign(Path(item.path), foreign):
                        left_out.append(path)
                    else:
                        folders.append(path + "/")
                elif item.is_file(follow_symlinks=False):
                    found.append(Entry(path))
    return Tree(tuple(sorted(found, key=lambda each: each.path)), tuple(sorted(left_out)))


def read_own(workspace: Path, path: str, *, limit: int = MAX_FILE) -> bytes | None:
    """Return the bytes of a regular file, or None: no link, no pipe, nothing beyond `limit`."""
    try:
        handle = os.open(workspace / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return None
        return file.read(limit + 1)


def hash_entry(workspace: Path, entry: Entry) -> str:
    """Return the content hash of a file (of its target's name, for a link)."""
    if entry.is_link:
        return content_hash(b"link:" + os.fsencode((workspace / entry.path).readlink()))
    data = read_own(workspace, entry.path, limit=256 * 1024 * 1024)
    return content_hash(b"unreadable" if data is None else data)


def hash_tree(workspace: Path) -> str:
    """Return one hash of all of the workspace's files but what tools install, by path and content.

    A copy has the same; it is part of what a verification is asked for.
    """
    entries = walk(workspace, foreign=INSTALLED).entries
    return content_hash("".join(f"{hash_entry(workspace, each)} {each.path}\n" for each in entries))


def _is_text(path: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in path)


def _is_foreign(folder: Path, names: frozenset[str]) -> bool:
    name = folder.name
    return (
        name.startswith(".")
        or name in names
        or name.endswith((".egg-info", ".dist-info"))
        or os.path.lexists(folder / "pyvenv.cfg")
        or (name == "target" and os.path.lexists(folder.parent / "Cargo.toml"))
    )
