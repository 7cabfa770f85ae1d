"""Citation numbers in Markdown: every [n] points at a source, and every source listed is cited.

What only looks like a citation, in code, links, image texts, footnotes or formulas, is none.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

K = TypeVar("K", bound=Hashable)

_LONGEST_RANGE = 50
_FIRST_YEAR = 1000  # "[1998]" is a year unless there is such a source
_LONGEST_HEADING = 80

_FENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_NO_TEXT = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"  # code
    r"|<!--.*?-->"
    r"|\$\$(?:(?!\n[ \t]*\n).)+?\$\$|\\\[(?:(?!\n[ \t]*\n).)+?\\\]|\\\(.+?\\\)"  # formulas
    r"|(?<![\\$])(?P<dollars>\$(?=[^\s$])(?:\\.|[^\\$\n])+?(?<=[^\s\\])\$(?!\d))"
    r"|\\[\[\]]"
    r"|^ {0,3}\[[^\]\n]+\]:[ \t]+\S[^\n]*"  # the target of a link
    r"|\[\^[^\]\n]+\]"
    r"|</?[A-Za-z][^<>\n]*>",
    re.MULTILINE | re.DOTALL,
)
_PROSE = re.compile(r"[^\W\d_]{3,}\s+[^\W\d_]{3,}")
_LINK = re.compile(
    r"!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
    r"(?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\]\n]*[^\W\d_][^\]\n]*\])"
)
_GROUP = re.compile(
    r"(?P<open>[\[【])[ \t]*(?P<inside>\d{1,6}(?:[ \t]*[-–—,;、，][ \t]*\d{1,6})*)[ \t]*"
    r"(?P<close>[\]】])(?!\()"
)
_LINKED = re.compile(
    r"(?P<open>\[\[?)(?P<inside>\d{1,6})(?P<close>\]?\]\((?P<url>(?:[^()\s]|\([^()\s]*\))+)\))"
)
_JOINT = re.compile(r"[ \t]*([-–—,;、，])[ \t]*")
_BETWEEN = re.compile(r"[ \t]*[,，、]?[ \t]*")
_PARTED = re.compile(r"[\s.,;:!?)|。，、；：！？）]|\Z")

_HEADING = re.compile(
    r"^ {0,3}(?P<level>#{1,6})[ \t]+(?P<text>[^\n]+)$|^[ \t]*\*\*(?P<bold>[^*\n]+)\*\*:?[ \t]*$",
    re.MULTILINE,
)
_OF_SOURCES = re.compile(
    r"\W*(?:[\divx一二三四五六七八九十]+[.)、:：]?\W*)?"
    r"(?:(?:key|main|selected|cited|primary|all|list of)\s+)?"
    r"(?:sources?|references?|citations?|bibliography|works cited|quellen(?:verzeichnis)?"
    r"|literatur(?:verzeichnis)?|bibliographie|références|fuentes|referencias|fonti|bronnen)"
    r"(?:\s+(?:cited|used|list|consulted)|\s+(?:and|&)\s+\w+(?:\s+\w+)?)?\W*\Z"
    r"|.*(?:参考|來源|来源|引用|文献|文獻|出典|참고)",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:\*\*)?(?:\[(?P<boxed>\d{1,6})\]|(?P<plain>\d{1,6})(?=[.)]))(?=\W)",
    re.MULTILINE,
)
_URL = re.compile(r"https?://[^\s<>\"'\]|]+", re.IGNORECASE)
_DOI = re.compile(r"(?:doi\.org/|\bdoi:\s*)(10\.\d{4,9}/[^\s<>\"'\]]+)", re.IGNORECASE)
_ARXIV = re.compile(r"(?:arxiv\.org/(?:abs|pdf|html)/|\barxiv:\s*)(\d{4}\.\d{4,5})", re.IGNORECASE)


def number_by_first_use(keys: Iterable[K]) -> dict[K, int]:
    """Return a number for each of `keys`, from 1, in the order in which they first come."""
    numbers: dict[K, int] = {}
    for key in keys:
        numbers.setdefault(key, len(numbers) + 1)
    return numbers


def finalise(markdown: str, sources: Mapping[int, str]) -> tuple[str, dict[int, int]]:
    """Return `markdown` with its citations in order, and the new number of each that stays.

    `sources` says what each number stands for: a URL, a path, any name. Numbers of one source
    become one, numbers are given from 1 by first use, groups ("[1-3]", "[1, 2]") are spelled out,
    and what stands for nothing is taken out with the space before it. A link that is nothing but a
    number is a citation of the source it leads to, if that is one. Of a numbered list of sources
    at the end the lines are renumbered, put in order, and left out where nothing cites them, with
    their heading if none is left. All else stays as it is, byte for byte. What comes out, finalised
    again with the sources under their new numbers, is the same.
    """
    listed = _find_list(markdown)
    start, end = (listed.start, listed.end) if listed else (len(markdown), len(markdown))
    before, after = markdown[:start], markdown[end:]
    names = {number: identity(name) for number, name in sources.items()}
    runs = [[*_runs(text, names)] for text in (before, after)]
    cited = [n for found in runs for run in found for group in run for n in group.numbers]
    order = number_by_first_use(names[number] for number in cited if number in names)
    mapping = {number: order[name] for number, name in names.items() if name in order}
    middle = listed.rewritten(mapping) if listed else ""
    written = (_renumbered(before, runs[0], mapping), middle, _renumbered(after, runs[1], mapping))
    return "".join(written), mapping


def listed_sources(markdown: str) -> dict[int, str]:
    """Return the numbered list of sources at the end of `markdown`, by number; of two the first."""
    listed = _find_list(markdown)
    found: dict[int, str] = {}
    for entry in listed.entries if listed else ():
        found.setdefault(entry.number, entry.text[entry.tail :].strip(" \t\n.:)*"))
    return found


def identity(name: str) -> str:
    """Return what is the same for one source however it is written.

    An arXiv id or a DOI where `name` has one; else the last URL without scheme, `www.`, fragment,
    tracking and closing slash; else the words themselves.
    """
    if match := _ARXIV.search(name):
        return f"arxiv:{match[1]}"
    if match := _DOI.search(name):
        return f"doi:{match[1].rstrip('.,;:)').lower()}"
    if urls := _URL.findall(name):
        parts = urlsplit(_balanced(urls[-1].rstrip(".,;:*")))
        query = "&".join(p for p in parts.query.split("&") if p and not p.startswith("utm_"))
        host = parts.netloc.lower().removeprefix("www.")
        return f"{host}{parts.path.rstrip('/')}{'?' if query else ''}{query}"
    return " ".join(name.split())


def _balanced(url: str) -> str:
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:*")
    return url


# ---- citations in the text


@dataclass(frozen=True, slots=True)
class _Group:
    """The marker `text[start:end]`, what is around a number in it, and what it stands for."""

    start: int
    end: int
    opening: str
    closing: str
    numbers: tuple[int, ...]


def _runs(text: str, known: Mapping[int, str]) -> Iterator[list[_Group]]:
    """Yield the citations that stand side by side, in order."""
    run: list[_Group] = []
    for group in _groups(text, known):
        if run and not _BETWEEN.fullmatch(text, run[-1].end, group.start):
            yield run
            run = []
        run.append(group)
    if run:
        yield run


def _groups(text: str, known: Mapping[int, str]) -> list[_Group]:
    """Return the citations in `text`, in order."""
    if "[" not in text and "【" not in text:
        return []
    links, closed = _closed(text)
    by_name = {name: number for number, name in sorted(known.items(), reverse=True)}
    found = []
    for match in (m for link in links if (m := _LINKED.fullmatch(text, *link))):
        if number := by_name.get(identity(match["url"])):
            found.append(_group(match, (number,)))
    at = 0
    for match in _GROUP.finditer(text):
        while at < len(closed) and closed[at][1] <= match.start():
            at += 1
        if at < len(closed) and closed[at][0] < match.end():
            continue
        if numbers := _numbers(match["inside"], known):
            found.append(_group(match, numbers))
    return sorted(found, key=lambda group: group.start)


def _group(match: re.Match[str], numbers: tuple[int, ...]) -> _Group:
    return _Group(*match.span(), match["open"], match["close"], numbers)


def _closed(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the ranges of links, and all ranges in which nothing is a citation; both in order."""
    fences = [match.span() for match in _FENCE.finditer(text)]
    links: list[tuple[int, int]] = []
    found = list(fences)
    for start, end in _gaps(fences, len(text)):
        inner = [
            match.span()
            for match in _NO_TEXT.finditer(text, start, end)
            if not (match["dollars"] and _PROSE.search(match["dollars"]))
        ]
        found += inner
        for begin, stop in _gaps(inner, end, start):
            links += [match.span() for match in _LINK.finditer(text, begin, stop)]
    return links, sorted([*found, *links])


def _gaps(taken: Sequence[tuple[int, int]], end: int, start: int = 0) -> Iterator[tuple[int, int]]:
    for begin, stop in taken:
        yield start, begin
        start = stop
    yield start, end


def _numbers(inside: str, known: Mapping[int, str]) -> tuple[int, ...]:
    """Return the numbers of "1, 3-5"; none where that is no citation."""
    pieces = _JOINT.split(inside)
    found = [int(pieces[0])]
    for joint, digits in zip(pieces[1::2], pieces[2::2], strict=True):
        number = int(digits)
        if joint in "-–—":
            if not found[-1] < number <= found[-1] + _LONGEST_RANGE:
                return ()
            found += range(found[-1] + 1, number)
        found.append(number)
    is_year = max(found) >= _FIRST_YEAR and not any(number in known for number in found)
    if min(found) < 1 or is_year:
        return ()
    return tuple(found)


def _renumbered(text: str, runs: Iterable[Sequence[_Group]], mapping: Mapping[int, int]) -> str:
    parts: list[str] = []
    done = 0
    for run in runs:
        start, end = run[0].start, run[-1].end
        said = _run_text(text, run, mapping)
        if not said and _PARTED.match(text, end):
            while start > done and text[start - 1] in " \t":
                start -= 1
        elif not said and start and _would_join(text[start - 1], text[end]):
            said = " "  # "word[7]word" are two words, and `a`[7]`b` are two pieces of code
        parts += [text[done:start], said]
        done = end
    return "".join([*parts, text[done:]])


def _would_join(before: str, after: str) -> bool:
    return not before.isspace() and (after.isalnum() or (before == after and after in "$`~"))


def _run_text(text: str, run: Sequence[_Group], mapping: Mapping[int, int]) -> str:
    said: dict[int, None] = {}
    written = ""
    for place, group in enumerate(run):
        fresh = dict.fromkeys(mapping[n] for n in group.numbers if n in mapping)
        around = group.opening, group.closing
        marks = "".join(str(n).join(around) for n in fresh if n not in said)
        if marks and written:
            written += text[run[place - 1].end : group.start]
        written += marks
        said.update(fresh)
    return written


# ---- the list of sources


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the list: `text[head:tail]` is its number as it is written, brackets included."""

    number: int
    text: str
    head: int
    tail: int
    gap: str

    def renumbered(self, number: int) -> str:
        """Return the line with another number."""
        mark = self.text[self.head : self.tail].replace(str(self.number), str(number))
        return self.text[: self.head] + mark + self.text[self.tail :]


@dataclass(frozen=True, slots=True)
class _List:
    """The list at `start` to `end` of a text; `entries` follow on what opens it."""

    start: int
    end: int
    opening: str
    entries: tuple[_Entry, ...]

    def rewritten(self, mapping: Mapping[int, int]) -> str:
        """Return the list with one line for each number of `mapping`, in order."""
        best: dict[int, _Entry] = {}
        for entry in self.entries:
            if entry.number in mapping:
                best.setdefault(mapping[entry.number], entry)
        kept = [best[number].renumbered(number) for number in sorted(best)]
        gaps = [entry.gap for entry in self.entries]
        if not kept:
            return gaps[-1] if gaps[-1].strip() else ""
        written = self.opening
        for place, gap in enumerate(gaps[:-1]):
            if place < len(kept):
                written += kept[place] + (gap if place + 1 < len(kept) or gap.strip() else "")
            elif gap.strip():
                written += gap
        written += kept[-1] if len(kept) == len(gaps) else ""
        return written + gaps[-1]


def _find_list(markdown: str) -> _List | None:
    fences = [match.span() for match in _FENCE.finditer(markdown)]
    headings = [
        match
        for match in _HEADING.finditer(markdown)
        if not any(start <= match.start() < end for start, end in fences)
    ]
    for place in reversed(range(len(headings))):
        heading = headings[place]
        said = heading["text"] or heading["bold"]
        if len(said) > _LONGEST_HEADING or not _OF_SOURCES.match(said.strip("# \t")):
            continue
        level = len(heading["level"] or "######")
        after = (other for other in headings[place + 1 :] if other["level"])
        ends = (other.start() for other in after if len(other["level"]) <= level)
        found = _read_list(markdown, heading.start(), next(ends, len(markdown)))
        if found:
            return found
    return _read_list(markdown, _bare_list(markdown), len(markdown))


def _bare_list(markdown: str) -> int:
    """Return where the lines `[n]: …` or `[n] … URL` begin that end the text, if two do."""
    start, count = len(markdown), 0
    for line in reversed(markdown.splitlines(keepends=True)):
        match = _ENTRY.match(line)
        if line.strip() and not (match and match["boxed"] and _URL.search(line)):
            break
        count += bool(line.strip())
        start -= len(line)
    return start if count > 1 else len(markdown)


def _read_list(markdown: str, start: int, end: int) -> _List | None:
    heads = [m for m in _ENTRY.finditer(markdown, start, end) if m.start() >= start]
    if not heads:
        return None
    stops = [*(head.start() for head in heads[1:]), end]
    entries = []
    for head, stop in zip(heads, stops, strict=True):
        block = markdown[head.start() : stop]
        text = re.split(r"\n(?=[ \t]*(?:\n|\Z))|\n(?=#{1,6}\s|---|\*\*\*)", block, maxsplit=1)[0]
        box = 1 if head["boxed"] else 0
        mark = head.span("boxed" if box else "plain")
        entries.append(
            _Entry(
                int(head["boxed"] or head["plain"]),
                text,
                mark[0] - box - head.start(),
                mark[1] + box - head.start(),
                block[len(text) :],
            )
        )
    return _List(start, end, markdown[start : heads[0].start()], tuple(entries))
