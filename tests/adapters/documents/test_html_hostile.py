"""Pages made to be hard: they end in a named outcome, in time, and touch no network."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.convert import convert_bytes
from adapters.documents.html import read_html
from state.values.blocks import Outcome

DEEP = 250


@pytest.mark.parametrize(
    "page",
    [
        b"<p>x" * 30_000,
        b"<b>x</b>" * 60_000,
        b"<br>" * 200_000 + b"x",
        b"<ol>" + b"<li>item" * 40_000,
        b"<dl>" + b"<dd>item</dd>" * 40_000,
        b"<div>" * DEEP + b"<p>text</p>" * 12_000,
        b"<ul><li>" * (DEEP // 2) + b"x",
        b"<table><tr><th>a</th><td>" * 80 + b"<p>text</p>" * 12_000,
        b"<table><tr><th>a<th>b</tr>" + b"<tr><td rowspan=65534 colspan=1000>x<td>y</tr>" * 2_000,
        b"<div style='font-size:0'>" * 200 + b"<p style='font-size:0'>x</p>" * 20_000 + b"y",
        b"<div>" * 200 + b"<p style='color:#fff'>x</p>" * 20_000 + b"y",
        b"<style>"
        + b".a.b%d{display:none}" * 20_000
        + b"</style>"
        + b"<p class='a b c'>x" * 20_000,
        b"<style>" + b"@media a{" * 200_000 + b"</style>x",
        b"<p title='" + b"x" * 4_000_000 + b"'>text</p>",
        b"<math>" + b"<mrow>" * 200 + b"<mi>x</mi>" * 50_000,
        b"<!-- ignore this please and go on -->" * 50_000 + b"<p>x",
        b"<p>x" + b"<!-- a -->text " * 50_000,
        b"<p>x</p>" + b"<" * 1_000_000,
        b"x<sub>2</sub>" * 50_000,
        b"x<span hidden>y</span>" * 50_000,
        (
            b"<base href='http://127.0.0.1:1/'><img src=a><link rel=stylesheet href=b><p>x"
            b"<a href='javascript:alert(1)'>y</a><iframe src=c></iframe><object data=d></object>"
        ),
        b'<!DOCTYPE html SYSTEM "http://127.0.0.1:1/a.dtd"><p>x',
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><p>x&b;y',
    ],
    ids=lambda page: page[:24].decode(),
)
def test_a_hostile_page_ends_in_time(page: bytes) -> None:
    begun = time.process_time()

    conversion = convert_bytes(page, "a.html", "text/html")

    assert time.process_time() - begun < 12
    assert conversion.outcome is not Outcome.CRASHED
    assert conversion.document is not None or conversion.reason
    if conversion.document:
        assert "root:" not in conversion.document.text


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b"<meta charset=utf-8><p>caf\xe9", "", "café"),
        ('<meta charset="windows-1251"><p>Москва'.encode("cp1251"), "", "Москва"),
        (b"<!-- " + b"x" * 1_500 + '--><meta charset="koi8-r"><p>Кот'.encode("koi8_r"), "", "Кот"),
        ('﻿<meta charset="windows-1251"><p>Größe'.encode(), "", "Größe"),
        ('<meta charset="utf-16"><p>Größe'.encode(), "", "Größe"),
        ('<meta content="text/html; charset=gb2312"><p>中文镕'.encode("gbk"), "", "中文镕"),
        ('<?xml encoding="iso-8859-2"?><p>Žluťoučký'.encode("iso8859_2"), "", "Žluťoučký"),
        ("<p>日本語".encode("shift_jis"), "shift_jis", "日本語"),
        ("<p>Größe".encode("utf-16"), "", "Größe"),
        (b"<p>a&#xD800;b&#x110000;c", "", "abc"),
    ],
)  # fmt: skip
def test_a_page_is_decoded_by_mark_meaning_and_declaration(
    data: bytes, charset: str, text: str
) -> None:
    assert (
        read_html(data, charset=charset).document.text.replace("\N{REPLACEMENT CHARACTER}", "")
        == text
    )


TAGS = st.sampled_from(
    "<p> </p> <b> </b> <ul> <li> </ul> <ol> <table> <tr> <td> <th rowspan=3> </table> <sup> </sup> "
    "<math> <mi> <msup> </math> <pre> </pre> <h2> </h2> <br> <dl> <dt> <dd> <nav> <style> "
    "<div/hidden> </div> <!-- --> <figcaption> <a/href=x> <script/type=math/tex> </script> x | $ "
    "&amp; - 1. é ­ \u200b".split()
)


@given(st.lists(TAGS, max_size=60))
def test_any_page_gives_blocks_in_order_without_space_around_them(tags: list[str]) -> None:
    page = " ".join(tags).replace("/", " ", 0)

    document = read_html(("<body>y " + page).encode()).document

    reached = 0
    for number, block in enumerate(document.blocks, start=1):
        text = document.text[block.start : block.end]
        assert block.paragraph == number
        assert reached <= block.start
        assert text == text.strip() != ""
        reached = block.end
    document.text.encode()
