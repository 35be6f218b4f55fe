"""Small inputs that cost much: each through the reader that would meet it, with its named error.

A reader is a function of bytes. The table crosses bodies with all parsers of the platform, and adds
the readers of sounds, pictures, imports, robots.txt and compressed responses.
"""

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import zstandard

from benchmarks.fuzz.sounds import SOUNDS, read_sound
from benchmarks.fuzz.streams import read_response
from pipelines.catalog.sources.tables import parse_table
from pipelines.platform.http.host_policy import AGENT, parse_robots
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.pictures import shrink
from pipelines.platform.profiles import load_profile
from pipelines.scan.rules.search import song_names
from tests.platform.shape_answers import PARSERS, SEEN_AT

BODY = 4 * 1024 * 1024 - 64
"""The largest body of a page or document that is read."""
MORE_MB = 64
LONGEST_S = 20.0
"""Processor time that a bomb may take."""
SEEN = ParseContext(surface="any", observed_at=SEEN_AT, link_of=str)

type Read = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Bomb:
    """An input and who reads it. `make` is called when it is due: most inputs are megabytes."""

    reader: str
    name: str
    read: Read
    make: Callable[[], bytes]

    def __str__(self) -> str:
        return f"{self.reader}: {self.name}"


def _filled(
    before: bytes, part: bytes, after: bytes = b"", size: int = BODY
) -> Callable[[], bytes]:
    return lambda: before + part * ((size - len(before) - len(after)) // len(part)) + after


def _numbered(before: bytes, form: bytes, count: int, after: bytes) -> Callable[[], bytes]:
    return lambda: before + b"".join(form % number for number in range(count)) + after


def _page(script: Callable[[], bytes]) -> Callable[[], bytes]:
    return lambda: b"<html><script>window._ROUTER_DATA = " + script()[: BODY - 99] + b"</script>"


DOCUMENTS: dict[str, Callable[[], bytes]] = {
    "lists in lists": _filled(b'{"a":', b"["),
    "objects in objects": _filled(b"", b'{"a":'),
    "closed lists in lists": lambda: b'{"a":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "empty lists": _filled(b'{"a":[[]', b",[]", b"]}"),
    "small objects": _filled(b'{"item_list":[{}', b',{"a":1}', b"]}"),
    "a number of 4,000,000 digits": _filled(b'{"status_code":', b"9", b"}"),
    "a large exponent": lambda: b'{"status_code":1e999999999}',
    "a key of 4 MB": _filled(b'{"', b"k", b'":1}'),
    "a long key over many objects": lambda: (
        b'{"' + b"k" * 2_000_000 + b'":{' + b",".join(b'"%d":{}' % n for n in range(40_000)) + b"}}"
    ),
    "many keys": _numbered(b"{", b'"k%d":0,', 300_000, b'"z":0}'),
    "two-letter texts": _filled(b'{"a":["ab"', b',"ab"', b"]}"),
    "blanks": _filled(b"", b" "),
    "glued documents": _filled(b"", b"{}"),
    "glued documents with blanks": _filled(b"", b"{} "),
    "frames": _filled(b"", b"1\r\n{\r\n"),
    "short frames": _filled(b"", b"1\n1\n"),
    "a frame of 4 GB": lambda: b"ffffffff\r\n{}",
    "comments": _filled(b"x", b"<!---->", b"x"),
    "comments and blanks": _filled(b"x", b"<!----> ", b"x"),
    "zeros": _filled(b"", b"\0"),
    "half characters": _filled(b'{"a":"', b"\\ud800", b'"}'),
}
PAGES: dict[str, Callable[[], bytes]] = {
    "tags in tags": _filled(b"", b"<b>"),
    "attributes": _numbered(b"<html><b ", b"a%d ", 500_000, b">"),
    "attributes of a script": _numbered(b"<html><script ", b"a%d ", 500_000, b">"),
    "scripts that do not end": _filled(b"", b"<script>"),
    "comments that do not end": _filled(b"", b"<!--"),
    "titles": _filled(b"", b"<title>"),
    "half titles": _filled(b"", b"<title "),
    "lists of songs": _filled(b"", b"global.features = "),
    "a list of songs in lists": _filled(b"global.features = ", b"["),
    "a container in lists": _page(_filled(b'{"a":', b"[")),
    "a container of small objects": _page(_filled(b'{"a":[{}', b',{"a":1}', b"]}")),
    "a container of long keys": _page(DOCUMENTS["a long key over many objects"]),
    "a container with code behind": _page(_filled(b"{};", b"{}")),
    "a rendered container": lambda: (
        b'<html><script id="RENDER_DATA">' + b"%5B" * (BODY // 3 - 20) + b"</script>"
    ),
    "dates": _filled(b"global.features = []", b"2025-01-01 "),
}


def _zip(parts: dict[str, bytes], repeat: dict[str, tuple[bytes, int]]) -> bytes:
    """A ZIP archive; a part in `repeat` is a text so many times, never whole in memory."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
        for name, (text, times) in repeat.items():
            with archive.open(name, "w", force_zip64=True) as part:
                part.write(_XML_HEAD)
                for _ in range(0, times, 1000):
                    part.write(text * 1000)
    return packed.getvalue()


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_XML_HEAD = f'<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
_WORKBOOK = {
    "_rels/.rels": (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="r1" Target="xl/workbook.xml" Type="http://schemas.openxmlformats.org/'
        b'officeDocument/2006/relationships/officeDocument"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships"><sheets><sheet name="a" r:id="r1"/></sheets></workbook>'
    ).encode(),
    "xl/_rels/workbook.xml.rels": (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="r1" Target="worksheets/sheet1.xml" Type="http://schemas.openxmlformats'
        b'.org/officeDocument/2006/relationships/worksheet"/></Relationships>'
    ),
}
_SHEET = "xl/worksheets/sheet1.xml"


def _cell(text: bytes) -> bytes:
    return _XML_HEAD + b"<row><c><v>" + text + b"</v></c></row></sheetData></worksheet>"


_ENTITIES = (
    b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]><worksheet>&j;</worksheet>"
)
SHEETS: dict[str, Callable[[], bytes]] = {
    "a sheet of 150 MB": lambda: _zip(
        _WORKBOOK, {_SHEET: (b'<row><c t="inlineStr"><is><t>1</t></is></c></row>', 3_000_000)}
    ),
    "a sheet of 2 GB": lambda: _zip(_WORKBOOK, {_SHEET: (b"<row/>" * 100, 3_500_000)}),
    "shared texts of 150 MB": lambda: _zip(
        {**_WORKBOOK, _SHEET: b"<worksheet/>"},
        {"xl/sharedStrings.xml": (b"<si><t>a</t></si>", 9_000_000)},
    ),
    "a row of many cells": lambda: _zip(
        _WORKBOOK, {_SHEET: (b"<row>" + b"<c><v>1</v></c>" * 100 + b"</row>", 100_000)}
    ),
    "300,000 rows": lambda: _zip(_WORKBOOK, {_SHEET: (b"<row><c><v>12</v></c></row>", 300_000)}),
    "shared texts of 15 MB": lambda: _zip(
        {**_WORKBOOK, _SHEET: b"<worksheet/>"},
        {"xl/sharedStrings.xml": (b"<si><t>ab</t></si>", 800_000)},
    ),
    "a cell of 15 MB": lambda: _zip({**_WORKBOOK, _SHEET: _cell(b"a" * 15_000_000)}, {}),
    "an attribute of 15 MB": lambda: _zip(
        {**_WORKBOOK, _SHEET: b'<worksheet a="' + b"a" * 15_000_000 + b'"/>'}, {}
    ),
    "entities": lambda: _zip({**_WORKBOOK, _SHEET: _ENTITIES}, {}),
    "elements in elements": lambda: _zip(_WORKBOOK, {_SHEET: (b"<a>", 3_000_000)}),
    "a column far away": lambda: _zip(
        {**_WORKBOOK, _SHEET: b'<worksheet xmlns="%s"><sheetData><row r="99999999999"><c r="ZZZ1">'
         b"<v>1</v></c></row></sheetData></worksheet>" % _MAIN.encode()}, {}
    ),
}  # fmt: skip
TABLES: dict[str, Callable[[], bytes]] = {
    "one cell of 8 MB": _filled(b"music_id\n", b"a", size=8_000_000),
    "commas": _filled(b"music_id\n", b",", size=8_000_000),
    "short lines": _filled(b"music_id\n", b"ab\n", size=8_000_000),
    "columns": _numbered(b"music_id", b",c%d", 1_000_000, b"\n1\n"),
    "a quote that does not end": _filled(b'music_id\n"', b"a\n", size=8_000_000),
    "rows in quotes": _filled(b"music_id\n", b'ab,"\n",', size=8_000_000),
    "one letter beyond": _filled("music_id😀\n".encode(), b"ab\n", size=8_000_000),
    "UTF-16": lambda: b"\xff\xfe" + b"a\0\n\0" * 2_000_000,
}
ROBOTS: dict[str, Callable[[], bytes]] = {
    "agents times rules": lambda: (
        b"".join(b"user-agent:a%d\n" % n for n in range(18_000)) + b"allow:/a\n" * 28_000
    ),
    "stars": lambda: b"user-agent:*\ndisallow:/" + b"*a" * 200_000 + b"b\n",
    "rules": _filled(b"user-agent:*\n", b"disallow:/*a*b\n", size=500_000),
    "a line": _filled(b"user-agent:", b"a ", size=500_000),
}


def _png(width: int, height: int, *, colour: int = 2, extra: bytes = b"") -> bytes:
    """A PNG of zeros with a header of this size; only the first rows are there."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data))
        )  # fmt: skip

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress(bytes(1_000_000)))
    return b"\x89PNG\r\n\x1a\n" + head + extra + rows + chunk(b"IEND", b"")


def _text_chunk() -> bytes:
    data = b"a\0\0" + zlib.compress(bytes(200_000_000), 9)
    return (
        struct.pack(">I", len(data))
        + b"zTXt"
        + data
        + struct.pack(">I", zlib.crc32(b"zTXt" + data))
    )


def _jpeg(width: int, height: int) -> bytes:
    frame = struct.pack(">BHHB", 8, height, width, 3) + b"\x01\x22\0\x02\x11\x01\x03\x11\x01"
    return b"\xff\xd8\xff\xc2" + struct.pack(">H", len(frame) + 2) + frame + b"\xff\xd9"


def _flat(kind: str, width: int, height: int, mode: str = "RGB", **options: object) -> bytes:
    from PIL import Image  # noqa: PLC0415 -- made when it is due

    made = io.BytesIO()
    Image.new(mode, (width, height)).save(made, kind, **options)
    return made.getvalue()


PICTURES: dict[str, Callable[[], bytes]] = {
    "PNG of 60,000 x 60,000": lambda: _png(60_000, 60_000),
    "PNG of 2^31 x 1": lambda: _png(2**31 - 1, 1),
    "PNG with a text of 200 MB": lambda: _png(8, 8, extra=_text_chunk()),
    "JPEG of 60,000 x 60,000": lambda: _jpeg(60_000, 60_000),
    "JPEG of 4,000 x 2,000": lambda: _flat("JPEG", 4_000, 2_000),
    "JPEG of 4,000 x 2,000, in several scans": lambda: _flat(
        "JPEG", 4_000, 2_000, progressive=True, subsampling=0
    ),
    "PNG of 2,000 x 2,000, RGBA": lambda: _flat("PNG", 2_000, 2_000, "RGBA"),
    "PNG of 4,000 x 2,900, RGBA": lambda: _flat("PNG", 4_000, 2_900, "RGBA"),
    "PNG of 4,000,000 x 1": lambda: _flat("PNG", 4_000_000, 1),
    "WebP of 2,000 x 2,000": lambda: _flat("WEBP", 2_000, 2_000, "RGBA"),
}
PACKED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "gzip of 256 MB": ("gzip", lambda: gzip.compress(bytes(2**28), 6)),
    "deflate of 256 MB": ("deflate", lambda: zlib.compress(bytes(2**28), 6)),
    "gzip of gzip of 256 MB": ("gzip", lambda: gzip.compress(gzip.compress(bytes(2**28), 6))),
    "two codings": ("gzip, gzip", lambda: gzip.compress(gzip.compress(bytes(2**26)))),
    "zstd": ("zstd", lambda: zstandard.compress(bytes(2**28))),
    "br": ("br", lambda: b"\x1b" * 1000),
    "many empty members": ("gzip", lambda: gzip.compress(b"") * 100_000),
    "no end": ("identity", lambda: bytes(64 * 1024 * 1024)),
}
TEXTS: dict[str, Callable[[], bytes]] = {
    "brackets": _filled(b"", b"(", size=1_000_000),
    "dots": _filled(b"", b"a.", size=60_000),
    "schemes": _filled(b"", b"a://", size=60_000),
    "ampersands": _filled(b"http://a.b/?", b"&amp;", size=60_000),
    "slashes": _filled(b"http://share.vidplat.localhost/", b"/", size=60_000),
}
_PROFILE = load_profile("sandbox", sandbox_port=8790)


def _parser(name: str) -> Read:
    return lambda body: PARSERS[name](body, "7348759830572834348", SEEN)


def _robots(body: bytes) -> object:
    return parse_robots(body.decode()).can_fetch("http://a.b/" + "a" * 200, AGENT)


def bombs() -> Iterator[Bomb]:
    """Every bomb with every reader that would meet it."""
    for parser in PARSERS:
        for name, make in {**DOCUMENTS, **PAGES}.items():
            yield Bomb(parser, name, _parser(parser), make)
    for name, (coding, make) in PACKED.items():
        yield Bomb("response", name, lambda body, coding=coding: read_response(body, coding), make)  # type: ignore[misc]
    for reader, read, table in (
        ("catalogue xlsx", lambda body: parse_table(body, name="a.xlsx"), SHEETS),
        ("catalogue csv", lambda body: parse_table(body, name="a.csv"), TABLES),
        ("robots.txt", _robots, ROBOTS),
        ("picture", shrink, PICTURES),
        ("title", lambda body: song_names(body.decode()), TEXTS),
        ("link", lambda body: _PROFILE.find_target(body.decode()), TEXTS),
        ("sound", read_sound, SOUNDS),
    ):
        for name, make in table.items():
            yield Bomb(reader, name, read, make)
