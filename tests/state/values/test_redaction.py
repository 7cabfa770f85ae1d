"""What counts as a secret, what does not, and that hiding it is quick and final."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from state.values.ids import artifact_id, content_hash, is_stable_id, step_call_id
from state.values.redaction import (
    REDACTED,
    has_secret,
    redact,
    redact_value,
    strip_envelopes,
)

S = "hunter2-Xy"  # stands for a secret without a shape of its own
TOKENS = [
    "sk-" + "a1B2c3D4",
    "sk-ant-" + "api03-a1B2c3D4",
    "AIza" + "SyA1b2C3d4E5f6G7h8I9j0",
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0",
    "gho_" + "a1B2c3D4e5F6g7H8i9J0",
    "xoxb-" + "1234567890-abc",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "github_pat_" + "a1B2c3D4e5F6g7H8i9J0",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "use {} now", "({}),", "x={}", '"{}"', "https://a.b/{}/c"]
)
def test_tokens_are_known_by_their_shape(token: str, around: str) -> None:
    assert token not in redact(around.format(token))
    assert redact(f"use {token} now") == f"use {REDACTED} now"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "authorization: {}",
        "Proxy-Authorization: Basic {}",
        "Authorization: Custom {}",
        "Authorization: Digest username=me, response={}",
        "curl -H 'Authorization: Custom {}' https://a.b",
        "https://a.b/#access_token={}&x=1",
        "GET / HTTP/1.1\r\nHost: a.b\r\nAuthorization: Bearer {}\r\nAccept: */*\r\n",
        "Authorization: Bearer\r\n  {}\r\nAccept: */*",
        "curl -H 'Authorization: Bearer {}' https://a.b",
        'curl -H "X-Api-Key: {}" https://a.b',
        '{{"Authorization": "Bearer {}"}}',
        "https://a.b/?token={}",
        "https://a.b/?x=1&api_key={}&y=2#z",
        "https://user:{}@a.b/path",
        "postgresql://user:{}@localhost:5432/db",
        '{{"password": "{}"}}',
        '{{"apiKey":"{}","x":1}}',
        '{{"client-secret" : "{}"}}',
        "{{'refresh_token': '{}'}}",
        '"{{\\"token\\": \\"{}\\"}}"',
        '{{"secret": ["{}", "b"]}}',
        '{{"credentials": {{"user": "{}"}}}}',
        "export OPENAI_API_KEY={}",
        "OPENAI_API_KEY='{}'",
        'A=1\nDB_PASSWORD="{}"\nB=2',
        'DB_PASSWORD="with \\" inside {}"',
        "PASSWORD=a;b,c{}",
        "PASSWORD=a&b{}",
        "PASSWORD=#{}",
        "run --api-key {} --verbose",
        "run --token={} file",
        "run --password '{}' file",
        'run --password "two words {}" file',
        "run -password {}",
        "auth={}",
        "session.auth-token = {}",
        "password: {}",
        "db:\n  password: {}\n  port: 5",
        "- secret: '{}'",
        "passwd: {}  # the old one",
        "{{user: me, password: {}}}",
        "STRIPE_KEY={}",
        "secretKey={}",
        "client_credential={}",
        "password := {}",
        'token => "{}"',
        '"password":\n    "{}"',
        "url=https://a.b/?token={}",
        "monkey=1&token={}",
        'password="{}',
    ],
)
def test_values_of_secret_names_are_hidden(text: str) -> None:
    shown = redact(text.format(S))

    assert S not in shown
    assert REDACTED in shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://a.b/?x=1&token=abc&y=2#z", "https://a.b/?x=1&token=[REDACTED]&y=2#z"),
        ("https://a.b/?token=abc#part", "https://a.b/?token=[REDACTED]#part"),
        ('{"token": "abc", "x": 1}', '{"token": "[REDACTED]", "x": 1}'),
        ("Authorization: Bearer abc\nAccept: x", "Authorization: Bearer [REDACTED]\nAccept: x"),
        ("run --token abc --fast", "run --token [REDACTED] --fast"),
        ("https://me:abc@a.b/c", "https://me:[REDACTED]@a.b/c"),
        ("f(token=abc)", "f(token=[REDACTED])"),
        ("A_TOKEN=abc\nB=2", "A_TOKEN=[REDACTED]\nB=2"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "commit 49fd0994f1a7c3b2e5d6f708192a3b4c5d6e7f80",
        content_hash(b"body"),
        artifact_id("run", "turn", "call"),
        step_call_id("research/1", "read", {"url": "https://a.b"}),
        "token_count=12 max_tokens=500 tokens=7",
        "public_key=abc cache_key=abc idempotency_key=abc primary_key=id",
        "publicKey=abc cacheKey: abc",
        "key=value monkey=banana turkey=bird hotkey=F1",
        '{"key": "value", "author": "Ann", "cache_key": "abc"}',
        "the token is a unit of text; a secret: nobody knows",
        "Token: a unit of text",
        "- **Granular Authorization:** finer scopes",
        "authors: Ann and Bob",
        "task-management, risk-assessment and disk-encryption",
        "sk-short",
        "Basic understanding of bearer instruments",
        "the bearer of this letter",
        "if token == expected:",
        "Token::new()",
        "auth://callback",
        '{"auth": null, "token": true}',
        "password=",
        "a password -- never reuse it",
        "--token --verbose",
        "https://a.b:8080/x@y",
        "https://user@a.b/",
        "mailto:me@a.b",
        "time 12:30, ratio 1:2",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
    assert not has_secret(text)


@given(st.from_regex(r"[a-z][a-z0-9]{0,20}([.:_-][a-f0-9]{1,12}){0,4}", fullmatch=True))
def test_ids_without_the_shape_of_a_token_stay(text: str) -> None:
    if is_stable_id(text) and not text.startswith(("sk-", "xox")):
        assert redact(text) == text


@pytest.mark.parametrize("token", TOKENS)
def test_an_id_with_the_shape_of_a_token_is_reported(token: str) -> None:
    assert has_secret(token)


PIECES = st.sampled_from(
    [
        *TOKENS, "token", "password", "api_key", "key", "Authorization", "Bearer ", "Basic ", "=",
        ":", ": ", " ", "\n", '"', "'", "\\", "{", "}", "[", "]", "&", "?", "#", "--", "-", ",",
        ";", "://", "@", "/", "a", "x1", "null", REDACTED, "<", ">", "é", ")", "(",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
@example("token=[REDACTED]]")
@example("--password [REDACTED],")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.lists(PIECES, max_size=5).map("".join),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["a", "token", "apiKey", "cache_key"]), inner, max_size=3
            )
        ),
        max_leaves=8,
    )
)
def test_redacting_a_value_twice_is_redacting_it_once(value: object) -> None:
    once = redact_value(value)

    assert redact_value(once) == once
    json.dumps(once)


def test_a_value_keeps_its_shape_and_loses_its_secrets() -> None:
    value = {
        "url": "https://a.b/?token=abc",
        "headers": {"Authorization": "Bearer abc", "Accept": "x"},
        "items": [{"api_key": "abc", "cache_key": "k"}, ("password=abc", 1.5)],
        "secret": {"nested": "abc"},
        "auth": None,
        "token": True,
        "pin_token": 1234,
    }

    assert redact_value(value) == {
        "url": f"https://a.b/?token={REDACTED}",
        "headers": {"Authorization": REDACTED, "Accept": "x"},
        "items": [{"api_key": REDACTED, "cache_key": "k"}, [f"password={REDACTED}", 1.5]],
        "secret": REDACTED,
        "auth": None,
        "token": True,
        "pin_token": REDACTED,
    }


def test_a_secret_is_hidden_before_the_text_is_sliced() -> None:
    text = "x" * 100 + TOKENS[0] + "y" * 100

    shown = redact("x" * 99 + " " + TOKENS[0] + " " + "y" * 100)

    assert redact(text[:104]) + redact(text[104:]) == text  # why slices come after
    assert TOKENS[0][3:] not in shown


@pytest.mark.parametrize(
    "tag",
    [
        "<workspace>", "</workspace>", '<workspace id="x">', "< / WORKSPACE >", "<Artifact\nid=1>",
        "</untrusted-4f1c>", "<untrusted_text>", "&lt;workspace&gt;", "&#60;artifact&#62;",
        "&#x3C;/evidence&#x3E;", "&amp;lt;workspace&amp;gt;", "＜workspace＞",
        "\\u003cworkspace\\u003e", "<work\u200bspace>", "<workspace",
        "<workspace " + "a" * 500 + ">", "%3Cworkspace%3E",
    ],
)  # fmt: skip
def test_forged_envelope_tags_are_taken_out(tag: str) -> None:
    shown = strip_envelopes(f"before {tag} after")

    assert shown.startswith("before [tag removed]")
    assert shown.endswith("after")
    assert strip_envelopes(shown) == shown


def test_taking_a_tag_out_makes_no_other() -> None:
    shown = strip_envelopes("<work<workspace>space> < <artifact>workspace>")

    assert strip_envelopes(shown) == shown
    assert "<workspace" not in shown


@pytest.mark.parametrize(
    "text", ["a < b", "<p>workspace</p>", "<work>", "x <evidential>", "the artifact > 5"]
)
def test_other_tags_stay(text: str) -> None:
    assert strip_envelopes(text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "a", "token", "token=", "token='", 'token="', "token=[", "token={", "token: ", "key=",
        "akey=", "--token ", "-", ".", "sk-", "sk-a", "Bearer ", "Bearer a", "Authorization: ",
        "authorization", "://", "://a:", "://a:b", "@", "\\", '\\"', "token\\", "token=\\", "&",
        "&a", "token=&", " ", "\n", "\t", "<", "</", "<workspace ", "&amp;", "&amp;lt;", "#",
        "token=#", "eyJ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "AKIA", "ghp_a",
        "password:\n",
    ],
)  # fmt: skip
def test_a_megabyte_made_to_be_slow_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()

    redact(text)
    strip_envelopes(text)

    assert time.process_time() - started < 6


@pytest.mark.parametrize(
    "shown",
    ["“password=[REDACTED]” it says", "“password=\\[REDACTED\\]” it says", "token=[REDACTED]."],
)
def test_what_was_redacted_and_then_quoted_or_escaped_stays_as_it_is(shown: str) -> None:
    assert redact(shown) == shown
