"""English and Chinese that stand in one text, told apart sentence by sentence.

Descriptions of parameters, operations and errors are written once, "English. 中文.", where the
thing itself is declared; whoever shows one language asks here. Translates nothing.
"""

import re
from dataclasses import dataclass

_HAN = re.compile("[\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"(?<=[.。!?])\s+|\s*\n\n\s*")
_HAN_BREAK = re.compile(r"(?<=[\u3400-\u9fff])\s*\n\s*(?=[\u3400-\u9fff])")  # no word ends there
_BREAK = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Words:
    """One meaning in both languages; either may be empty where nobody wrote it."""

    en: str
    zh: str


def split_languages(text: str | None) -> Words:
    """Sentences with a Chinese sign are Chinese, all others English; paragraphs stay apart."""
    paragraphs = [_sentences(one) for one in (text or "").split("\n\n")]
    english = [" ".join(one for one in said if not is_chinese(one)) for said in paragraphs]
    chinese = [" ".join(one for one in said if is_chinese(one)) for said in paragraphs]
    return Words(_joined(english), _joined(chinese))


def is_chinese(text: str) -> bool:
    """True when there is one Chinese sign at least."""
    return _HAN.search(text) is not None


def _sentences(paragraph: str) -> list[str]:
    whole = _BREAK.sub(" ", _HAN_BREAK.sub("", paragraph.strip()))
    return [one for one in _SENTENCE_END.split(whole) if one]


def _joined(paragraphs: list[str]) -> str:
    return "\n\n".join(one.replace("。 ", "。") for one in paragraphs if one)
