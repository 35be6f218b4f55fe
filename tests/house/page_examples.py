"""Examples in the guides: fenced blocks of the pages, commands in them, and requests of curl."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SETTING = re.compile(r"^[A-Z_]+=\S+$")
_PLACEHOLDER = re.compile(r"^[A-Z_]{2,}$")
_IN_TEXT = re.compile(r"`((?:[A-Z_]+=\S+ )?(?:\.venv/bin/)?sametrack [^`\n]+)`")


@dataclass(frozen=True)
class Example:
    """One block or command of a page."""

    page: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(kind: str) -> list[Example]:
    """Fenced blocks of one language, in all pages."""
    return [one for page in PAGES for one in blocks_of(page) if one.kind == kind]


def blocks_of(page: str, root: Path = ROOT) -> Iterator[Example]:
    """Yield the fenced blocks of a page, in order."""
    text = (root / page).read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 2
        yield Example(page, line, found[1], found[2])


def commands() -> list[Example]:
    """Each command line of each shell block, continued lines joined; `kind` is its program."""
    found = []
    for block in (*blocks("sh"), *blocks("console"), *filter(_is_shell, blocks(""))):
        lines = block.text.replace("\\\n", "\0").split("\n")
        number = block.line
        for line in lines:
            words = shlex.split(line.replace("\0", " "), comments=True)
            program = next((word for word in words if not _SETTING.match(word)), "")
            if program:
                name = Path(program).name
                found.append(Example(block.page, number, name, line.replace("\0", " ")))
            number += 1 + line.count("\0")
    return found


def _is_shell(block: Example) -> bool:
    """Blocks without a language are commands where they begin with one."""
    return Path(block.text.split(maxsplit=1)[0]).name in {"sametrack", "make", "python", "curl"}


def mentioned() -> list[Example]:
    """Commands of ours that stand in the running text."""
    return [
        Example(page, text.count("\n", 0, found.start()) + 1, "sametrack", found[1])
        for page in PAGES
        for text in [_BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))]
        for found in _IN_TEXT.finditer(text)
    ]


def words_of(command: str) -> list[str]:
    """What follows the program, as the shell would hand it over."""
    words = shlex.split(command, comments=True)
    while _SETTING.match(words[0]):
        words = words[1:]
    return words[1:]


def has_placeholder(words: list[str]) -> bool:
    """True where a reader has to fill something in."""
    return any(_PLACEHOLDER.match(word) or word.startswith(("/", "…")) for word in words)


@dataclass(frozen=True)
class Request:
    """What curl would send."""

    method: str
    path: str
    query: str
    body: Any

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


def read_curl(command: str) -> Request:
    """A curl command as the request that it sends; an option that is not known here is an error."""
    words, url, method, body = words_of(command.replace("\\\n", " ")), "", None, None
    while words:
        word = words.pop(0)
        if word == "-X":
            method = words.pop(0)
        elif word == "-d":
            body = orjson.loads(words.pop(0))
        elif word == "-o":
            assert not words.pop(0).startswith("-")
        elif word == "-H":
            assert ":" in words.pop(0)
        else:
            assert not word.startswith("-"), word
            url = word
    parts = urlsplit(url if "//" in url else f"http://{url}")
    assert (parts.hostname, parts.port) == ("localhost", 8780), url
    return Request(method or ("POST" if body is not None else "GET"), parts.path, parts.query, body)
