"""Rules for what CommonMark lacks and sources have: definitions of notes, and display formulas."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

NOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]:[ \t]*")
"""What a definition of a note begins with."""

_MAX_FORMULA_LINES = 200
_AFTER = r"[\s.,;:]*(?:\(\w{1,20}\)|\{#[^{}]{1,80}\})?\s*\Z"
_DOLLARS = re.compile(r"\$\$(?:(?!\$\$).)+\$\$" + _AFTER)
_DOLLARS_CLOSE = re.compile(r"(?:(?!\$\$).)*\$\$" + _AFTER)
_BRACKETS = re.compile(r"\\\[(?=.*[\\^_=]).+\\\]" + _AFTER)
_BRACKETS_CLOSE = re.compile(r".*\\\]" + _AFTER)
_LONGEST_LINE = 10_000


def add_rules(parser: MarkdownIt) -> MarkdownIt:
    """Teach `parser` the tokens `note` and `formula`; each maps to the lines it has."""
    parser.block.ruler.before(
        "fence", "formula", _formula, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.block.ruler.before("reference", "note", _note, {"alt": ["paragraph", "reference"]})
    return parser


def _content(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _is_dedented(state: StateBlock, line: int) -> bool:
    return not state.isEmpty(line) and state.sCount[line] < state.blkIndent


def _note(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - their call
    if state.is_code_block(start_line) or not NOTE.match(_content(state, start_line)):
        return False
    if silent:
        return True
    line = last = start_line + 1
    after_blank = False
    while line < end_line and not _is_dedented(state, line):
        if state.isEmpty(line):
            after_blank = True
        elif state.sCount[line] - state.blkIndent >= 4 or not (
            after_blank or _interrupts(state, line, end_line)
        ):
            last, after_blank = line + 1, False
        else:
            break
        line += 1
    state.line = last
    token = state.push("note", "", 0)
    token.map = [start_line, last]
    return True


def _interrupts(state: StateBlock, line: int, end_line: int) -> bool:
    """Tell whether another block begins at `line`, in place of more of a paragraph."""
    rules = state.md.block.ruler.getRules("paragraph")
    return any(rule(state, line, end_line, True) for rule in rules)


def _formula(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - their call
    first = _content(state, start_line)
    if state.is_code_block(start_line) or not first.startswith(("$$", "\\[")):
        return False
    next_line = _formula_end(state, start_line, end_line, first.rstrip())
    if not next_line:
        return False
    if not silent:
        state.line = next_line
        token = state.push("formula", "", 0)
        token.map = [start_line, next_line]
    return True


def _formula_end(state: StateBlock, start_line: int, end_line: int, first: str) -> int:
    """Return the line after the formula that begins at `start_line`, or 0 when there is none."""
    if len(first) > _LONGEST_LINE:
        return 0
    is_dollars = first.startswith("$$")
    if (_DOLLARS if is_dollars else _BRACKETS).match(first):
        return start_line + 1
    if "$$" in first[2:] or (not is_dollars and first != "\\["):
        return 0
    closing = _DOLLARS_CLOSE if is_dollars else _BRACKETS_CLOSE
    for line in range(start_line + 1, min(end_line, start_line + _MAX_FORMULA_LINES)):
        if _is_dedented(state, line):
            return 0
        content = _content(state, line)
        if len(content) > _LONGEST_LINE:
            return 0
        if closing.match(content):
            return line + 1
        if is_dollars and "$$" in content:
            return 0
    return 0
