"""What must not be shown: secrets, by shape and by name, and forged envelope tags.

Archived bytes stay exact; what is shown of them is redacted, always the whole first and the slice
after, since either half of a secret that was cut in two looks harmless.
"""

import re
from collections.abc import Mapping

REDACTED = "[REDACTED]"
REMOVED_TAG = "[tag removed]"
# The names of the tags Assay itself puts around text it hands to a model.
ENVELOPES = ("workspace", "artifact", "untrusted", "evidence")

# Every quantifier that could be tried again from inside its own match is possessive or bounded.
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{8,}+"
    r"|AIza[A-Za-z0-9_-]{20,}+"
    r"|(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,}+"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}+"
    r"|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r")"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*+(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
)
_AUTHORIZATION = (
    r"(?:proxy-)?authorization\\{0,8}[\"']?[ \t]{0,8}[:=](?!=)[ \t]{0,8}\\{0,8}[\"']?"
    r"(?:(?:Bearer|Basic|Digest|Negotiate|Token|ApiKey|AWS4-HMAC-SHA256)\s{1,8})?+"
)
# On a line of its own, or in quotes, all that follows; in the midst of a sentence one word.
_HEADER_LINE = re.compile(
    rf"(?im)((?:^|(?<=[\"']))[ \t]{{0,64}}{_AUTHORIZATION})"
    r"(?!\[REDACTED\])[^\s\"'\\*][^\"'\\\r\n]*+"
)
_HEADER = re.compile(rf"(?i)((?<![\w-]){_AUTHORIZATION})(?:\[REDACTED\]|[^\s\"'\\*][^\s\"'\\]*+)")
_BEARER = re.compile(
    r"((?<!\w)(?:Bearer|bearer|Basic)\s{1,8})(?=[A-Za-z._~+/=-]{0,64}\d)[A-Za-z0-9._~+/=-]{16,}+"
)
_USERINFO = re.compile(r"(?<=://)([^\s/?#@:\"'<>]{0,256}:)[^\s/?#@\"'<>]{1,1024}+(?=@)")

# An assignment's head: a name that may be secret, and what stands between it and its value.
_HEAD = re.compile(
    r"(?i)(?<![\w.-])(?P<name>[\w.-]*+)"
    r"(?:(?<=auth)|(?<=authorization)|(?<=credential)|(?<=credentials)|(?<=passwd)|(?<=password)"
    r"|(?<=secret)|(?<=token)|(?<=key))"
    r"(?P<quote>\\{0,8}[\"']?)"
    r"(?P<between>[ \t]{0,8}(?::=|=>|=(?!=)|:(?![:/=]))[ \t]{0,8}\r?\n?[ \t]{0,64}|[ \t]{1,8}(?!-))"
)
_KEY = re.compile(
    r"(?:[_.-]|(?<=[a-z0-9]))(?:Key|KEY)$|[_.-]key$"
    r"|(?i:api|access|secret|private|signing|encryption|auth|master|account|license)key$"
)
_HARMLESS_KEY = re.compile(
    r"(?i)(?:^|[_.-]|(?<=[a-z]))(?:artifact|block|cache|call|citation|cite|column|composite|config"
    r"|data|dedupe?|deduplication|dict|event|field|foreign|group|grouping|hash|idempotency|index|item"
    r"|join|json|lookup|map|message|natural|object|order|ordering|partition|primary|pub|public|row"
    r"|routing|shard|sort|sorting|step|storage|surrogate|translation|unique)[_.-]?key$"
)
_NAMES = re.compile(r"(?i)(?:auth|authorization|credentials?|passwd|password|secret|token)$")
_VALUE = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'"
    r"|(?P<escaped>\\+[\"'])[^\"'\\\n]*+(?P=escaped)"
    r"|\[[^\[\]]*+\]|\{[^{}]*+\}"
    r"|(?:[^\s\"'<>&]|&(?![\w.-]++=))++"
)
_QUERY_VALUE = re.compile(r"[^\s\"'<>&#]++")
_OPEN_VALUE = re.compile(r"[\"']?[^\s\"'<>&]++")
_PUNCTUATION = ",;)}]"
_NO_SECRET = re.compile(r"(?i)[\"']?(?:null|none|nil|true|false|undefined)?[\"']?[,;)}\]]*$")
# Also as Markdown spells it, with whatever punctuation was put around it since.
_DONE = re.compile(r"[\"']?\\?\[REDACTED\\?\]\W*$")
_LINE_START = re.compile(r"(?:^|[\r\n{,\"'])[ \t]{0,64}(?:- )?\\{0,8}[\"']?$")
_LINE_END = re.compile(r"[ \t]{0,64}(?:$|[\r\n#\"',}\]\\])")

_INVISIBLE = "[\u00ad\u200b-\u200f\u2060\ufeff]{0,8}"
_OPEN = r"(?:[<＜﹤]|&(?:amp;){0,8}(?:lt|#0{0,8}60|#x0{0,8}3c);?|\\u003c|%3c)"
_CLOSE = r"(?:[>＞﹥]|&(?:amp;){0,8}(?:gt|#0{0,8}62|#x0{0,8}3e);?|\\u003e|%3e)"
_ENVELOPE = re.compile(
    rf"(?i){_OPEN}[\s/\\]{{0,64}}{_INVISIBLE}"
    rf"(?:{'|'.join(_INVISIBLE.join(name) for name in ENVELOPES)})(?![a-z]{{2}})[\w:-]*+"
    rf"(?:[^<>＜＞﹤﹥]{{0,400}}?{_CLOSE})?"
)


def redact(text: str) -> str:
    """Return `text` with each secret replaced by `[REDACTED]`, in time linear in its length.

    Secrets are what has the shape of a known token, and the values of authorization headers, of
    URL passwords, and of names in `name=value`, query strings, JSON, YAML and command lines that
    end in auth, authorization, credential(s), passwd, password, secret, token or a qualified key
    (`api_key`, not `public_key`). Commit ids and content hashes are none. Doing it twice is doing
    it once.

    Give it the whole text and slice the answer, never the other way round.
    """
    text = _TOKENS.sub(REDACTED, text)
    text = _HEADER_LINE.sub(rf"\1{REDACTED}", text)
    text = _HEADER.sub(rf"\1{REDACTED}", text)
    text = _redact_assignments(text)
    text = _USERINFO.sub(rf"\1{REDACTED}", text)
    return _BEARER.sub(rf"\1{REDACTED}", text)


def has_secret(text: str) -> bool:
    """Tell whether `redact` would change `text`; an id of which this is true must be refused."""
    return redact(text) != text


def redact_value(value: object) -> object:
    """Return a JSON-like `value` with its texts redacted, and whatever a secret name holds.

    Mappings come back as dicts, lists and tuples as lists; null and booleans hold no secret.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {
            key: _held(value[key]) if _is_secret_name(str(key)) else redact_value(value[key])
            for key in value
        }
    if isinstance(value, list | tuple):
        return [redact_value(each) for each in value]
    return value


def strip_envelopes(text: str) -> str:
    """Return `text` with each tag that could pass for one of ours replaced by `[tag removed]`.

    Ours are `workspace`, `artifact`, `untrusted` and `evidence`, alone or with a suffix
    (`<untrusted-4f1c>`); they are recognised opening or closing, in any case, with spaces or
    invisible characters, and when `<` is spelled as an entity or an escape.
    """
    return _ENVELOPE.sub(REMOVED_TAG, text)


def _held(value: object) -> object:
    return value if value is None or isinstance(value, bool) else REDACTED


def _is_secret_name(name: str) -> bool:
    if _NAMES.search(name):
        return True
    return _KEY.search(name) is not None and _HARMLESS_KEY.search(name) is None


def _redact_assignments(text: str) -> str:
    parts: list[str] = []
    done = at = 0
    while (head := _HEAD.search(text, at)) is not None:
        at = max(head.end("name"), head.start() + 1)
        if not _is_secret_name(head["name"]):
            continue
        value = _value_after(text, head)
        if value is None or _NO_SECRET.match(value[0]) or _DONE.match(value[0]):
            continue
        if not _assigns(text, head, value):
            continue
        start, end = _inside(value)
        parts += text[done:start], REDACTED
        done = at = end
    return "".join([*parts, text[done:]])


def _value_after(text: str, head: re.Match[str]) -> re.Match[str] | None:
    if text[max(0, head.start() - 1) : head.start()] in ("?", "&", "#"):
        return _QUERY_VALUE.match(text, head.end())
    return _VALUE.match(text, head.end()) or _OPEN_VALUE.match(text, head.end())


def _assigns(text: str, head: re.Match[str], value: re.Match[str]) -> bool:
    """Tell whether a secret is given a value here, rather than spoken of."""
    between = head["between"]
    if "=" in between:
        return "\n" not in between
    if ":" not in between:
        return head["name"].startswith("-") and not head["quote"]
    if head["quote"]:
        return True
    before = text[max(0, head.start() - 80) : head.start()]
    return (
        between.strip(" \t") == ":"
        and between[-1] in " \t"
        and _LINE_START.search(before) is not None
        and _LINE_END.match(text, value.end()) is not None
    )


def _inside(value: re.Match[str]) -> tuple[int, int]:
    """Return the range of the value without its quotes or the punctuation after it."""
    start, end = value.span()
    text = value[0]
    if text[0] in "\"'" and text[-1] == text[0] and len(text) > 1:
        return start + 1, end - 1
    if value.re is _VALUE and value["escaped"]:
        return start + len(value["escaped"]), end - len(value["escaped"])
    if text[0] in "\"'":
        return start + 1, end
    if text.startswith(REDACTED) and not text[len(REDACTED) :].strip(_PUNCTUATION):
        return start, start + len(REDACTED)
    if text[0] in "[{" and text[-1] in "]}":
        return start, end
    bare = text.rstrip(_PUNCTUATION)
    return (start, start + len(bare)) if bare else (start, end)
