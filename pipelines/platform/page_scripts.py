"""Find the scripts and the title of an HTML page in one pass over its bytes.

A full HTML parser takes time quadratic in the attributes of a tag and 60 bytes per byte of a page,
and a page comes from a stranger. Of a page only these elements are read, so only they are found:
not in comments, not in values of attributes, and not within each other.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

_BEGIN = re.compile(rb"<!--|<(?=[a-z])", re.IGNORECASE)
_TAG = re.compile(
    rb"""(?P<name>[^\s/>]++)(?P<attributes>(?:[^>=]++|=\s*+"[^"]*+"|=\s*+'[^']*+'|=)*+)>"""
)
"""Possessive throughout, and tried once: a tag that does not end is the rest of the page."""
_WITH_TEXT = {
    name: re.compile(rb"</%s(?=[\s/>])" % name, re.IGNORECASE)
    for name in (b"script", b"style", b"textarea", b"title")
}
"""Elements that hold text alone, with their ends."""


@dataclass(frozen=True, slots=True)
class TextElement:
    """An element that holds text: its lower-case name, its attributes as written, and its text."""

    name: bytes
    attributes: bytes
    body: bytes

    @property
    def text(self) -> str:
        """The text; bytes that are no UTF-8 become U+FFFD."""
        return self.body.decode("utf-8", "replace")


def find_scripts(body: bytes) -> Iterator[TextElement]:
    """Yield the script elements of a page that end."""
    return (element for element in _text_elements(body) if element.name == b"script")


def find_title(body: bytes) -> str | None:
    """Return the text of the first title; None if there is none."""
    for element in _text_elements(body):
        if element.name == b"title":
            return html.unescape(element.text)
    return None


def _text_elements(body: bytes) -> Iterator[TextElement]:
    """Yield them until something does not end, which then is the rest of the page."""
    at = 0
    while (begin := _BEGIN.search(body, at)) is not None:
        if begin[0] == b"<!--":
            end_of_comment = body.find(b"-->", begin.end())
            if end_of_comment < 0:
                return
            at = end_of_comment
            continue
        tag = _TAG.match(body, begin.end())
        if tag is None:
            return
        # Text within these elements is no markup, whatever it looks like.
        at, name = tag.end(), tag["name"].lower()
        if name in _WITH_TEXT:
            end = _WITH_TEXT[name].search(body, at)
            if end is None:
                return
            yield TextElement(name, tag["attributes"], body[at : end.start()])
            at = end.end()
