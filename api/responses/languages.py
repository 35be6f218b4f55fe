"""Splits bilingual texts into their English and Chinese sentences.

Descriptions of parameters, operations and errors are written once, as "English. 中文.", where the
thing is declared. Nothing is translated here.
"""

import re
from dataclasses import dataclass

_HAN = re.compile("[\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"(?<=[.。!?])\s+|\s*\n\n\s*")
_HAN_BREAK = re.compile(
    r"(?<=[\u3400-\u9fff])\s*\n\s*(?=[\u3400-\u9fff])"
)  # Chinese has no space at a line break
_BREAK = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class BilingualText:
    """One text in both languages; either may be empty."""

    en: str
    zh: str


def split_languages(text: str | None) -> BilingualText:
    """Split a text: sentences with a Chinese character are Chinese. Paragraphs are kept."""
    paragraphs = [_sentences(one) for one in (text or "").split("\n\n")]
    english = [" ".join(one for one in said if not is_chinese(one)) for said in paragraphs]
    chinese = [" ".join(one for one in said if is_chinese(one)) for said in paragraphs]
    return BilingualText(_joined(english), _joined(chinese))


def is_chinese(text: str) -> bool:
    """Return True if the text has at least one Chinese character."""
    return _HAN.search(text) is not None


def _sentences(paragraph: str) -> list[str]:
    whole = _BREAK.sub(" ", _HAN_BREAK.sub("", paragraph.strip()))
    return [one for one in _SENTENCE_END.split(whole) if one]


def _joined(paragraphs: list[str]) -> str:
    return "\n\n".join(one.replace("。 ", "。") for one in paragraphs if one)
