"""Walls are told from pages, and pages about walls are pages."""

import gzip
import time
from pathlib import Path

import pytest

from adapters.web.blocked import find_wall, visible_text

CLOUDFLARE_CHALLENGE = """<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"><style>*{box-sizing:border-box}</style></head><body>
<div class="main-wrapper" role="main"><div class="main-content"><noscript><div class="h2">
<span id="challenge-error-text">Enable JavaScript and cookies to continue</span></div></noscript>
</div></div><script>(function(){window._cf_chl_opt={cvId:'3',cZone:"www.shop.example"};})();</script>
</body></html>"""
CLOUDFLARE_BLOCK = """<!DOCTYPE html><html><head>
<title>Attention Required! | Cloudflare</title></head><body><div id="cf-wrapper">
<h1 data-translate="block_headline">Sorry, you have been blocked</h1>
<h2>You are unable to access shop.example</h2><h2>Why have I been blocked?</h2>
<p>This website is using a security service to protect itself from online attacks. The action you
just performed triggered the security solution. There are several actions that could trigger this
block including submitting a certain word or phrase, a SQL command or malformed data.</p>
<h2>What can I do to resolve this?</h2><p>You can email the site owner to let them know you were
blocked. Please include what you were doing when this page came up and the Cloudflare Ray ID found
at the bottom of this page.</p><p>Cloudflare Ray ID: 8f2 &bull; Your IP: 203.0.113.9 &bull;
Performance &amp; security by Cloudflare</p></div></body></html>"""
AKAMAI = """<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>
You don't have permission to access "http&#58;&#47;&#47;www&#46;air&#46;example&#47;" on this
server.
<P>Reference&#32;&#35;18&#46;2d351ab8&#46;1557333295</BODY></HTML>"""
DATADOME = """<html lang="en"><head><title>news.example</title>
<style>#cmsg{animation:A 1.5s}</style></head><body>
<p id="cmsg">Please enable JS and disable any ad blocker</p>
<script src="https://ct.captcha-delivery.com/c.js"></script></body></html>"""
IMPERVA = """<html><head><title>Pardon Our Interruption</title></head><body><h1>Pardon Our
Interruption</h1><p>As you were browsing something about your browser made us think you were a bot.
There are a few reasons this might happen:</p><ul><li>You've disabled JavaScript in your web
browser.</li><li>You're a power user moving through this website with super-human speed.</li></ul>
</body></html>"""
PERIMETERX = """<html><head><title>Access to this page has been denied</title></head><body>
<div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>
</body></html>"""
AMAZON = """<html><head><title dir="ltr">Robot Check</title></head><body><h4>Enter the characters
you see below</h4><p>Sorry, we just need to make sure you're not a robot.</p>
<form action="/errors/validateCaptcha"></form></body></html>"""
GOOGLE_SORRY = """<html><head><title>https://www.google.example/search?q=x</title></head><body>
<div>About this page<br>Our systems have detected unusual traffic from your computer network.
This page checks to see if it's really you sending the requests, and not a robot.</div>
<div class="g-recaptcha" data-sitekey="6L"></div></body></html>"""
ANUBIS = """<!doctype html><html><head><title>Making sure you&#39;re not a bot!</title></head><body>
<h1>Making sure you&#39;re not a bot!</h1><p id="status">Loading...</p><p>Protected by Anubis from
Techaro.</p></body></html>"""
HCAPTCHA = """<html><head><title>Security check</title></head><body><p>One more step: please
complete the security check to access the journal.</p>
<div class="h-captcha" data-sitekey="x"></div></body>"""
LOGIN = """<html><head><title>Sign in - Journal of Examples</title></head><body><h1>Sign in</h1>
<form><label>E-mail <input type="email"></label><label>Password <input type=password></label>
<button>Sign in</button><a href="/reset">Forgot your password?</a></form></body></html>"""
LOGIN_GERMAN = """<html><head><title>Anmelden | Beispielzeitung</title></head><body>
<form>Benutzername <input name=u> Passwort <input name="p" type="password"></form></body></html>"""
CONSENT = """<html><head><title>Before you continue to Video</title></head><body>
<h1>Before you continue to Video</h1><p>We use cookies and data to deliver services.</p>
<button>Reject all</button><button>Accept all</button></body></html>"""
COOKIE_WALL = """<html><head><title>example news</title></head><body><p>We and our 812 partners
store cookies on your device.</p><p>With your consent, we and our partners process
personal data such as your IP address for measured ads.</p>
<button>Accept all cookies.</button> <a>Privacy settings</a>
</body></html>"""
SHELL = """<!doctype html><html><head><title>Dashboard</title></head><body>
<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
<script src="/static/js/main.js"></script></body></html>"""
BARE_SHELL = """<html><head><title>App</title><script src=a.js></script></head><body>
<div id="app"></div></body></html>"""
WALLS = {
    name: text
    for name, text in list(globals().items())
    if name.isupper() and isinstance(text, str) and name != "WALLS"
}

_PARAGRAPH = (
    "Bot management works in layers. A request first meets a list of known addresses, then a score "
    "that is computed from its headers and the order in which they come. What remains in doubt is "
    "shown a page that runs a script and sets a cookie, and only then the page that was asked for. "
)


def _article(title: str, *, before: str = "", after: str = "", times: int = 8) -> str:
    paragraphs = f"<p>{_PARAGRAPH}</p>" * times
    return (
        f"<html><head><title>{title}</title></head><body>{before}<article><h1>{title}</h1>"
        f"{paragraphs}</article>{after}</body></html>"
    )


PAGES = {
    "about cloudflare": _article("Attention Required! | Cloudflare and what it means"),
    "about the challenge": _article("Just a moment... How Cloudflare checks browsers"),
    "about captchas": _article("CAPTCHA", before="<div class='g-recaptcha'></div>"),
    "quotes a wall": _article(
        "Error pages", before="<p>Enable JavaScript and cookies to continue</p>"
    ),
    "behind cloudflare": _article(
        "Ordinary", after="<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
    ),
    "has a login form": _article("Forum", before="Sign in <form><input type='password'></form>"),
    "has a cookie banner": _article(
        "News", after="<div>We use cookies. Accept all. Reject all.</div>"
    ),
    "short": "<title>Release 1.2</title><p>Release 1.2 fixes the parser and adds TLS.</p>",
    "short about cookies": (
        "<html><title>Set-Cookie</title><p>The Set-Cookie header has seven attributes. It was "
        "specified in RFC 6265. Servers must not send two of the same name. Cookies are accepted "
        "by most programs.</p></html>"
    ),
    "short with a noscript": (
        "<html><title>Weather</title><p>Rain in the north until Thursday, then dry and cold, with "
        "frost at night in the valleys and a light wind from the east. On Friday the sun will be "
        "out for seven hours in most places, and for more than that on the coast.</p>"
        "<noscript>Please enable JavaScript for the map.</noscript></html>"
    ),
    "a text without markup": "plain words that somebody called HTML",
    "a short 404": "<html><title>404 Not Found</title><h1>Not Found</h1></html>",
    "a password policy": (
        "<html><title>Password policy</title><p>Passwords have twelve characters.</p>"
        "<input type=password></html>"
    ),
}


@pytest.mark.parametrize("name", WALLS)
def test_a_wall_is_found(name: str) -> None:
    assert find_wall(200, {}, WALLS[name].encode())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_no_wall(name: str) -> None:
    assert find_wall(200, {}, PAGES[name].encode()) == ""


def test_a_wall_is_named() -> None:
    assert find_wall(200, {}, LOGIN.encode()) == "a login"
    assert "consent" in find_wall(200, {}, CONSENT.encode())
    assert "JavaScript" in find_wall(200, {}, SHELL.encode())
    assert "Cloudflare" in find_wall(403, {"cf-mitigated": "challenge"}, b"")


def test_no_page_of_a_public_set_is_taken_for_a_wall(shared_data: Path) -> None:
    folder = shared_data / "data" / "article_extraction" / "html"
    if not folder.is_dir():
        pytest.skip(f"no pages at {folder}")
    for path in sorted(folder.glob("*.html.gz")):
        assert find_wall(200, {}, gzip.decompress(path.read_bytes())) == "", path.name


def test_visible_text_is_what_people_see() -> None:
    markup = "<p>a &amp;\n b</p><script>no</script><STYLE>no</STYLE><!-- no --><b>c</b><script>no"

    assert visible_text(markup) == "a & b c"


@pytest.mark.parametrize(
    "piece", ["<", "<script", "<!--", "<title>", "<input ", "<noscript>", "</script", "&", "<a <b "]
)
def test_hostile_markup_takes_no_longer_than_its_length(piece: str) -> None:
    body = (piece * 600_000)[:600_000].encode()
    started = time.perf_counter()

    find_wall(200, {}, body)

    assert time.perf_counter() - started < 8.0
