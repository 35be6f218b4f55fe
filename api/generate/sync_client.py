"""Generates the synchronous client from the asynchronous one by removing `async`."""

import re
from pathlib import Path

CLIENT = Path(__file__).parent.parent / "client"

_RULES = (
    (
        r"`make docs` generates the synchronous client from this module\.",
        "Written by `make docs` from `awaiting.py`.",
    ),
    (r"\basynchronous client", "synchronous client"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\(await (.*)\)\.data", r"\1.data"),
    (r"\bawait ", ""),
    (r"import asyncio\n", ""),
    (r"asyncio\.sleep", "time.sleep"),
    (r"Callable\[\[float\], Awaitable\[None\]\]", "Callable[[float], None]"),
    (r"AsyncGenerator, AsyncIterator, Awaitable, Callable", "Callable, Generator, Iterator"),
    (r"\bAsyncGenerator\[(.*), None\]:", r"Generator[\1, None, None]:"),
    (r"\baclosing\b", "closing"),
    (r"\bAsync(Iterator|Client|BaseTransport)\b", r"\1"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\baiter_text\b", "iter_text"),
    (r'for video in (data\["aweme_list"\]):\n\s+yield video', r"yield from \1"),
    (r"for job in (events\.take\(text\)):\n\s+yield job", r"yield from \1"),
)


def render_sync_client() -> str:
    """Render the synchronous client."""
    text = (CLIENT / "awaiting.py").read_text(encoding="utf-8")
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    return text
