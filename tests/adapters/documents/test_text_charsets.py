"""Bytes become the characters that were meant, whatever charset they are in and say they are."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.charset import decode
from adapters.documents.convert import convert_bytes
from state.values.blocks import Outcome

FRENCH = "Le café était fermé à cause de la grève, même l'été."
GERMAN = "Die Größe der Straße ändert sich über Nacht."
SPANISH = "El niño mañana comió jamón y piñata."
POLISH = "Zażółć gęślą jaźń, proszę państwa. Wszystkie źródła są dostępne."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy."
HUNGARIAN = "Az árvíztűrő tükörfúrógép működik, és erről győződjön meg."
TURKISH = "Türkçe metin: ığdır, şeker, çağdaş, güneş, İstanbul."
RUSSIAN = "Москва - столица России, крупнейший город страны."
GREEK = "Η Ελλάδα είναι χώρα της νοτιοανατολικής Ευρώπης."
HEBREW = "עברית היא שפה שמית ממשפחת השפות"
ARABIC = "اللغة العربية من أكثر اللغات انتشارا"
JAPANESE = "日本語の文章です。これは試験のための文です。"
CHINESE = "中文文本的编码检测是一个难题，需要足够的样本。"
TAIWANESE = "中文文字的編碼偵測是一個難題，需要足夠的樣本。"
KOREAN = "한국어 문장의 인코딩을 검사합니다."
LITHUANIAN = "Ąžuolų šlamėjimas girdėti čia, ūkininkų sodyboje."


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        *((FRENCH, "latin-1"), (FRENCH, "cp1252"), (FRENCH, "mac_roman"), (FRENCH, "cp850")),
        *((GERMAN, "latin-1"), (GERMAN, "iso8859_15"), (SPANISH, "latin-1")),
        *((POLISH, "cp1250"), (POLISH, "iso8859_2"), (CZECH, "cp1250"), (CZECH, "iso8859_2")),
        *((HUNGARIAN, "cp1250"), (TURKISH, "cp1254"), (LITHUANIAN, "cp1257")),
        *((RUSSIAN, "cp1251"), (RUSSIAN, "koi8_r"), (RUSSIAN, "iso8859_5"), (RUSSIAN, "cp866")),
        *((GREEK, "cp1253"), (GREEK, "iso8859_7"), (HEBREW, "cp1255"), (ARABIC, "cp1256")),
        *((JAPANESE, "shift_jis"), (JAPANESE, "euc_jp"), (JAPANESE, "iso2022_jp")),
        *((CHINESE, "gb18030"), (CHINESE, "gb2312"), (TAIWANESE, "big5"), (KOREAN, "euc_kr")),
        *(("café", "latin-1"), ("Größe", "cp1252"), ("Привет", "cp1251"), ("Привет", "koi8_r")),
        *(("日本語", "shift_jis"), ("中文", "gb18030"), ("Price: 5 € – “quoted” text…", "cp1252")),
    ],
)
def test_a_legacy_charset_is_told_from_the_text_itself(text: str, charset: str) -> None:
    """Cases: measured, Latin-1."""
    decoded = decode(text.encode(charset))

    assert decoded.text == text
    assert decoded.replaced == 0


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, JAPANESE, "é"])
def test_unicode_is_read_with_its_mark_whatever_is_declared(text: str, charset: str) -> None:
    assert decode(text.encode(charset)).text == text
    assert decode(text.encode(charset), declared="cp1251").text == text


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", [FRENCH, RUSSIAN, GREEK, f"{JAPANESE}\r\n", f"{CHINESE}\n{CHINESE}", "plain text"]
)
def test_utf_16_without_a_mark_is_told_by_its_zeros(text: str, charset: str) -> None:
    assert decode(text.encode(charset)).text == text
    assert convert_bytes(text.encode(charset), "a.txt", "").document is not None


@pytest.mark.parametrize(
    ("data", "declared", "text"),
    [
        ("Größe".encode(), "latin-1", "Größe"),
        (b"caf\xe9", "utf-8", "café"),
        (b"caf\xe9", "no-such-charset", "café"),
        (b"caf\xe9", "hex", "café"),
        ("\u041a\u043e\u0442".encode("koi8_r"), "koi8-r", "Кот"),
        (b"\x80 5, \x93so\x94", "iso-8859-1", "€ 5, “so”"),
        ("\u9555".encode("gbk"), "gb2312", "镕"),
        (b"+ADw-script+AD4-", "utf-7", "+ADw-script+AD4-"),
        ("é".encode() + b" and \xe9", "utf-8", "é and \N{REPLACEMENT CHARACTER}"),
    ],
)
def test_what_is_declared_is_weighed_against_what_is_there(
    data: bytes, declared: str, text: str
) -> None:
    assert decode(data, declared=declared).text == text


@pytest.mark.parametrize("size", [1023, 1024, 4095, 4096, 8191, 65_535, 65_536])
@pytest.mark.parametrize("character", ["é", "語", "😀"])
def test_a_character_across_any_edge_stays_whole(size: int, character: str) -> None:
    """Cases: measured, a character across byte 8192."""
    text = "a" * size + character + "b" * 10

    assert decode(text.encode()).text == text
    made = convert_bytes(text.encode(), "paper", "").document
    assert made is not None
    assert made.text == text


def test_letters_far_from_the_beginning_are_looked_at() -> None:
    assert decode(b"plain words " * 20_000 + b"caf\xe9").text.endswith("café")


@pytest.mark.parametrize(
    ("data", "outcome", "text"),
    [
        (b"one\0two\0three", Outcome.PARTIAL, "one\ufffdtwo\ufffdthree"),
        ("a\x85b\u2028c\x0bd".encode(), Outcome.OK, "a\x85b\u2028c\x0bd"),
        (b"caf\xe9", Outcome.OK, "café"),
        (b"\xef\xbb\xbf", Outcome.EMPTY, None),
        (b"\xff\xfe" + "\ud800x".encode("utf-16-le", "surrogatepass"), Outcome.PARTIAL, "\ufffdx"),
        (b"\xed\xa0\x80 half", Outcome.PARTIAL, None),
        (bytes(range(256)) * 40, Outcome.UNSUPPORTED, None),
    ],
)
def test_odd_files_end_in_a_named_outcome(data: bytes, outcome: Outcome, text: str | None) -> None:
    """Cases: measured, Latin-1."""
    conversion = convert_bytes(data, "a.txt", "")

    assert conversion.outcome in (outcome, Outcome.OK if text is None else outcome)
    if conversion.document is not None:
        conversion.document.text.encode()
        assert text is None or conversion.document.text == text


def test_much_text_is_decoded_in_time() -> None:
    data = (FRENCH + "\n").encode("latin-1") * 100_000
    begun = time.process_time()

    assert decode(data).charset == "cp1252"
    assert time.process_time() - begun < 3


@given(st.text(alphabet=st.characters(codec="cp1252", exclude_characters="\0"), max_size=60))
def test_a_declared_charset_gives_back_what_was_written(text: str) -> None:
    data = text.encode("cp1252")

    decoded = decode(data, declared="windows-1252").text

    assert decoded in (text, *_as_utf8(data))


def _as_utf8(data: bytes) -> list[str]:
    """Return what `data` is when it happens to be valid UTF-8, which comes first."""
    try:
        return [data.decode().removeprefix("\ufeff")]
    except UnicodeError:
        return []


@given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "cp1252", "shift_jis", "utf-16"]))
def test_no_bytes_give_half_characters(data: bytes, declared: str) -> None:
    decode(data, declared=declared).text.encode()
