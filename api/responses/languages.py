"""Splits bilingual texts into their English and Chinese sentences.

Descriptions of parameters, operations and errors are written once, as "English. 中文.", where the
thing is declared. Nothing is translated here.
"""

import re
from dataclasses import dataclass

_HAN = re.compile("[\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"(?<=[.。!?])\s+|\s*\n\n\s*")
_HAN_BREAK = re.compile(r"(?<=[\u3400-\u9fff])\s*\n\s*(?=[\u3400-\u9fff])")
_BREAK = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class BilingualText:
    """One text in both languages; either may be empty."""

    en: str
    zh: str


def split_languages(text: str | None) -> BilingualText:
    """Split a text: sentences with a Chinese character are Chinese. Paragraphs are kept.

    `"Free text. 备注"` becomes `BilingualText("Free text.", "备注")`.
    """
    english: list[str] = []
    chinese: list[str] = []
    for paragraph in (text or "").split("\n\n"):
        # The line breaks are those of the source file. Chinese has no space in their place.
        line = _BREAK.sub(" ", _HAN_BREAK.sub("", paragraph.strip()))
        sentences = [sentence for sentence in _SENTENCE_END.split(line) if sentence]
        english.append(" ".join(text for text in sentences if not is_chinese(text)))
        chinese.append(" ".join(text for text in sentences if is_chinese(text)))
    return BilingualText(_join(english), _join(chinese))


def is_chinese(text: str) -> bool:
    """Return True if the text has at least one Chinese character."""
    return _HAN.search(text) is not None


def _join(paragraphs: list[str]) -> str:
    # A Chinese full stop has its own width, so no space follows it.
    return "\n\n".join(text.replace("。 ", "。") for text in paragraphs if text)
