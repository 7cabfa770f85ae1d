"""Tells which pieces of a page are its article: what trafilatura takes for it, and its like."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import trafilatura
from lxml.html import HtmlElement

from adapters.documents.web_page.writer import Piece
from state.values.blocks import BlockKind

# Letters and digits; scripts without spaces count by character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_DIGITS = re.compile(r"\d+")
_NUMBERED = re.compile(
    r"(?:fig(?:ure|\.)?|tab(?:le|elle|leau|\.)?|abb(?:ildung|\.)?|scheme|listing|algorithm|图|圖|表)"
    r"\s*[A-Z]?\d",
    re.IGNORECASE,
)
_SHINGLE = 4
_MAIN_SHARE = 0.6
_MAX_ELEMENTS = 80_000
_LONG_WORDS = 12  # a piece with as many is hardly twice on a page by chance
_SAME_SORT = 400  # characters of article that make a sort of block the article's
_WORTH_A_LOOK = 40
_FEW_LINKS = 0.2
_SOME_LINKS = 0.5
_CONTAINER_SHARE = 0.8
_NAME = 10  # characters of a heading that can repeat a title
_PATH = 8
_MAX_CLIMB = 100


def article_text(tree: HtmlElement) -> str:
    """Return what trafilatura takes for the article of `tree`, one line a block, or ''."""
    if sum(1 for _ in tree.iter()) > _MAX_ELEMENTS:
        return ""
    try:
        return trafilatura.extract(tree, include_comments=False) or ""
    except Exception:  # noqa: BLE001 - heuristics over any page; without them all blocks are main
        return ""


def main_pieces(
    text: str, pieces: Sequence[Piece], article: str, title: str | None = None
) -> list[bool]:
    """Return for each piece of `text` whether it belongs to `article`.

    A piece does whose words are the article's; of two alike, the one among the others. Added are
    paragraphs of the same sort elsewhere, and what stands between and is not links. The heading
    that repeats the title is not part of it, nor one with nothing under it. Without an article,
    all pieces are that are neither navigation nor forms.
    """
    judged = _Judged(text, pieces, article) if _words(article) else None
    if judged is None or not judged.body():
        return [not piece.is_aside for piece in pieces]
    judged.keep_one_of_a_kind()
    judged.add_the_same_sort()
    judged.add_what_is_between()
    judged.drop_titles(title or "")
    judged.drop_bare_headings()
    return judged.main


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _shingles(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)]


class _Judged:
    """The pieces of a page while it is made out which of them are `main`."""

    def __init__(self, text: str, pieces: Sequence[Piece], article: str) -> None:
        self._pieces = pieces
        self._texts = [text[piece.start : piece.end] for piece in pieces]
        self._words = [_words(each) for each in self._texts]
        self._lines = Counter(_words(line) for line in article.splitlines())
        known = frozenset(_shingles(_words(article)))
        self.main = [
            not piece.is_aside and self._is_known(words, known)
            for piece, words in zip(pieces, self._words, strict=True)
        ]

    def _is_known(self, words: tuple[str, ...], known: frozenset[tuple[str, ...]]) -> bool:
        shingles = _shingles(words)
        if shingles and sum(map(known.__contains__, shingles)) >= _MAIN_SHARE * len(shingles):
            return True
        return bool(words) and words in self._lines

    def body(self) -> list[int]:
        """Return the numbers of the main pieces that are no headings."""
        return [
            number
            for number, piece in enumerate(self._pieces)
            if self.main[number] and piece.kind is not BlockKind.HEADING
        ]

    def keep_one_of_a_kind(self) -> None:
        """Of pieces with the same words, keep as many as the article has, those nearest to it."""
        alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            if self.main[number]:
                alike[words].append(number)
        core = [n for n in self.body() if len(self._words[n]) >= _LONG_WORDS]
        core = [n for n in core if len(alike[self._words[n]]) == 1]
        if not core:
            return

        def distance(number: int) -> tuple[int, bool, int]:
            outside = max(core[0] - number, number - core[-1], 0)
            return outside, self._pieces[number].linked > _SOME_LINKS, number

        for words, numbers in alike.items():
            for number in sorted(numbers, key=distance)[max(1, self._lines[words]) :]:
                self.main[number] = False

    def add_the_same_sort(self) -> None:
        """Add paragraphs in elements named like those that hold much of the article."""
        paths = [_path(piece.block) for piece in self._pieces]
        held: Counter[str] = Counter()
        for number in self.body():
            if self._pieces[number].kind in (BlockKind.PARAGRAPH, BlockKind.LIST):
                held[paths[number]] += len(self._texts[number])
        for number, piece in enumerate(self._pieces):
            if (
                piece.kind is BlockKind.PARAGRAPH
                and not piece.is_aside
                and piece.linked < _FEW_LINKS
                and len(self._texts[number]) >= _WORTH_A_LOOK
                and held[paths[number]] >= _SAME_SORT
            ):
                self.main[number] = True

    def add_what_is_between(self) -> None:
        """Add what stands between main pieces, in the element that holds most of them."""
        body = self.body()
        if not body:
            return
        sizes: Counter[HtmlElement] = Counter()
        depths: dict[HtmlElement, int] = {}
        for number in body:
            chain = _chain(self._pieces[number].block)
            for depth, element in enumerate(chain):
                sizes[element] += len(self._texts[number])
                depths[element] = len(chain) - depth
        most = _CONTAINER_SHARE * sum(len(self._texts[number]) for number in body)
        holders = [element for element, size in sizes.items() if size >= most]
        if not holders:
            return
        holder = max(holders, key=depths.__getitem__)
        parents = {_parent(self._pieces[number].block) for number in body}
        inside: dict[HtmlElement, bool] = {holder: True}
        for number in range(body[0], body[-1]):
            piece = self._pieces[number]
            if not piece.is_aside and _is_inside(piece.block, inside):
                is_beside = _parent(piece.block) in parents
                self.main[number] |= self._fits_between(piece, self._texts[number], is_beside)

    @staticmethod
    def _fits_between(piece: Piece, text: str, is_beside: bool) -> bool:  # noqa: FBT001 - private
        match piece.kind:
            case BlockKind.CODE | BlockKind.EQUATION | BlockKind.FOOTNOTE:
                return True
            case BlockKind.HEADING:
                return piece.linked < _SOME_LINKS
            case BlockKind.CAPTION:
                return _NUMBERED.match(text) is not None
            case BlockKind.LIST | BlockKind.TABLE:
                return piece.linked < _FEW_LINKS
            case _:
                return piece.linked < _FEW_LINKS and is_beside

    def drop_titles(self, title: str) -> None:
        """Drop headings that say what the page is called."""
        called = " ".join(_words(title))
        for number, piece in enumerate(self._pieces):
            words = " ".join(self._words[number])
            if piece.kind is BlockKind.HEADING and len(words) > _NAME and words in called:
                self.main[number] = False

    def drop_bare_headings(self) -> None:
        """Drop headings under which nothing is main, down to the next as high."""
        above: list[tuple[int, int]] = []
        needed: set[int] = set()
        for number, piece in enumerate(self._pieces):
            if piece.kind is BlockKind.HEADING:
                while above and above[-1][0] >= piece.level:
                    above.pop()
                above.append((piece.level, number))
            elif self.main[number]:
                needed.update(heading for _, heading in above)
        for number, piece in enumerate(self._pieces):
            if piece.kind is BlockKind.HEADING and number not in needed:
                self.main[number] = False


def _chain(block: HtmlElement | None) -> list[HtmlElement]:
    """Return `block` and the elements around it, inside out."""
    chain: list[HtmlElement] = []
    while block is not None and len(chain) < _MAX_CLIMB:
        chain.append(block)
        block = block.getparent()
    return chain


def _path(block: HtmlElement | None) -> str:
    """Return the names of a block and of what is around it, without the numbers in them."""
    names: list[str] = []
    while block is not None and len(names) < _PATH:
        names.append(f"{block.tag}.{_DIGITS.sub('', block.get('class') or '')}")
        block = block.getparent()
    return "/".join(names)


def _parent(block: HtmlElement | None) -> HtmlElement | None:
    return None if block is None else block.getparent()


def _is_inside(block: HtmlElement | None, inside: dict[HtmlElement, bool]) -> bool:
    """Tell whether `block` is below an element that `inside` holds; what is found is noted."""
    climbed: list[HtmlElement] = []
    while block is not None and block not in inside:
        climbed.append(block)
        block = block.getparent()
    found = block is not None and inside[block]
    inside.update(dict.fromkeys(climbed, found))
    return found
