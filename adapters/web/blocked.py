"""Tells walls from pages: bot checks, refusals, logins, consent, and shells without text.

A wall is short and speaks of itself. A page that has something to say is never one, so an article
about bot checks passes.
"""

import html
import re
from collections.abc import Mapping

_SHORT = 1_500
_SHELL = 200
_EMPTY = 40

_TITLE = re.compile(r"<title\b[^<>]*>([^<]{0,500})", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style|template|svg|title|noscript)\b", re.IGNORECASE)
_ENDS = {
    name: re.compile(f"</{name}", re.IGNORECASE)
    for name in ("script", "style", "template", "svg", "title", "noscript")
}
_NOSCRIPT = re.compile(r"<noscript\b[^<>]*>([^<]{0,2000})", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>|<!--")
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r"[.!?\n]+")

_CHECKS = re.compile(
    r"just a moment|attention required|un instant|einen moment|un momento|please wait"
    r"|access (?:to this page has been )?denied|pardon our interruption|robot check"
    r"|are you (?:a robot|human)|human verification|security (?:check|checkpoint|verification)"
    r"|ddos-guard|bot (?:verification|check|challenge)|client challenge|request rejected"
    r"|(?:sorry, )?you have been blocked|checking your browser|verif(?:y|ying) (?:that )?you are"
    r"|making sure you(?:'|’)re not a bot|captcha|one more step"
    r"|vercel security checkpoint|unusual traffic|web server is returning an unknown error"
    r"|error 10(?:05|06|09|10|12|15|20)",
    re.IGNORECASE,
)
_CHECK_TEXT = re.compile(
    r"enable javascript and cookies to continue|verif(?:y|ying) (?:that )?you are (?:a )?human"
    r"|(?:confirm|prove) (?:that )?you are (?:a )?(?:human|not a robot)|checking your browser"
    r"|checking if the site connection is secure|needs to review the security of your connection"
    r"|unusual (?:traffic|activity) from your|complete the (?:security check|captcha)"
    r"|you have been blocked|you don(?:'|’)t have permission to access|enter the characters you see"
    r"|enable js and disable any ad blocker|your (?:access|request)"
    r" (?:to this site )?(?:has been|was) (?:limited|blocked|denied)"
    r"|made us think (?:that )?you (?:are|were) a bot"
    r"|press (?:&|and) hold|you are not a robot|the requested url was rejected"
    r"|performance (?:&|and) security by cloudflare|protected by anubis",
    re.IGNORECASE,
)
_CHECK_MARKUP = re.compile(
    r"_cf_chl_opt|cf-browser-verification|captcha-delivery\.com|px-captcha|_incapsula_resource"
    r"|distil_r_captcha|awswafcookiedomainlist|gokuprops|cf-turnstile|g-recaptcha|h-captcha"
    r"|/sorry/index|id=[\"']?challenge-(?:form|error-text|running)",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"(?:please )?(?:log|sign)[ -]?(?:in|on)\b|login|anmelde|einloggen|connexion|iniciar sesi"
    r"|accedi\b|se connecter|authentication required|institutional (?:login|access)",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"<input\b[^<>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
_CONSENT = re.compile(
    r"before you continue to|bevor sie fortfahren|avant d(?:'|’)accéder"
    r"|is part of the yahoo family of brands",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"accept all|reject all|agree|consent|cookies?\b|privacy|partners|akzeptieren|einwillig"
    r"|datenschutz|accepter|refuser",
    re.IGNORECASE,
)
_NO_SCRIPT = re.compile(
    r"enable javascript|javascript (?:is|to be) (?:disabled|required|enabled)|requires javascript"
    r"|turn on javascript|without javascript|javascript aktivieren",
    re.IGNORECASE,
)


def find_wall(status: int, headers: Mapping[str, str], body: bytes) -> str:
    """Return what stands there in place of the page, in a few words, or '' when it is a page.

    `body` is HTML, `headers` have lower-case names.
    """
    if headers.get("cf-mitigated", "").strip().lower() == "challenge":
        return "a bot check (Cloudflare)"
    markup = body.decode("utf-8", "replace")
    text = visible_text(markup)
    if len(text) > _SHORT:
        return ""
    title = _title(markup)
    if _is_check(status, title, text, markup):
        return "a bot check or a refusal"
    if _PASSWORD.search(markup) and (_LOGIN.search(title) or _LOGIN.search(text[:_SHELL])):
        return "a login"
    if _CONSENT.search(text) or _is_all_consent(text):
        return "a question for consent to cookies"
    without_script = " ".join(_NOSCRIPT.findall(markup))
    if len(text) < _SHELL and _NO_SCRIPT.search(f"{text} {without_script}"):
        return "a page that is empty without JavaScript"
    if len(text) < _EMPTY and "<script" in markup.lower():
        return "a page that is empty without JavaScript"
    return ""


def visible_text(markup: str) -> str:
    """Return the text of `markup` about as people see it, white space as single spaces.

    Takes time in proportion to the length, whatever the markup.
    """
    kept: list[str] = []
    place = 0
    while found := _HIDDEN.search(markup, place):
        kept.append(markup[place : found.start()])
        end = _ENDS[found[1].lower()].search(markup, found.end())
        place = end.start() if end else len(markup)
    kept.append(markup[place:])
    bare = _TAG.sub(" ", " ".join(kept))
    return _SPACE.sub(" ", html.unescape(bare)).strip()


def _title(markup: str) -> str:
    found = _TITLE.search(markup)
    return _SPACE.sub(" ", html.unescape(found[1])).strip() if found else ""


def _is_check(status: int, title: str, text: str, markup: str) -> bool:
    signs = (
        (_CHECKS.match(title) is not None)
        + (_CHECK_TEXT.search(text) is not None)
        + (_CHECK_MARKUP.search(markup) is not None)
    )
    # One sign may stand in a page of a few lines; a refusing status or a second one settles it.
    return signs >= 2 or (signs == 1 and (status >= 400 or len(text) < _SHELL))


def _is_all_consent(text: str) -> bool:
    sentences = [part for part in _SENTENCE.split(text) if part.strip()]
    about = sum(len(part) for part in sentences if _CHOICE.search(part))
    buttons = "accept" in text.lower() or "agree" in text.lower() or "akzeptieren" in text.lower()
    return buttons and "cookie" in text.lower() and about > 0.75 * sum(map(len, sentences))
