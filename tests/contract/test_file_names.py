"""Files are named after what they hold, and every system can store the name."""

import re
from urllib.parse import unquote

import pytest

from api.services.exports.file_names import attachment_headers, to_file_name


def name_of(title: str, *, language: str = "en", is_demo: bool = False) -> str:
    return to_file_name(title, "ranking", "2026-11-28", "xlsx", is_demo=is_demo, language=language)


def test_a_name_has_title_contents_and_day() -> None:
    assert name_of("Silver Glasshouse") == "Silver Glasshouse – ranking – 2026-11-28.xlsx"
    assert name_of("晴天", language="zh") == "晴天 – 排行 – 2026-11-28.xlsx"


def test_demo_data_is_marked_in_the_name() -> None:
    assert name_of("A", is_demo=True) == "A – ranking – 2026-11-28 – demo data.xlsx"
    assert "演示数据" in name_of("A", is_demo=True, language="zh")


@pytest.mark.parametrize(
    ("title", "start"),
    [
        ('a/b\\c:d*e?"f<g>|h', "a b c d e f g h – "),
        ("..hidden. ", "hidden – "),
        ("con", "_con – "),
        ("LPT1.txt", "_LPT1.txt – "),
        ("a\u202eb\nc", "ab c – "),
        ("", "ranking – "),
        ("x" * 200, "x" * 48 + " – "),
    ],
)
def test_a_title_from_outside_makes_a_safe_name(title: str, start: str) -> None:
    assert name_of(title).startswith(start)
    assert len(name_of("𝄞" * 200).encode()) < 255


def test_the_header_has_a_fallback_in_ascii() -> None:
    header = attachment_headers(name_of("晴天 Sunny", language="zh"))["Content-Disposition"]
    fallback = re.search(r'filename="([^"]+)"', header)
    encoded = re.search(r"filename\*=UTF-8''(\S+)$", header)
    assert fallback is not None
    assert encoded is not None
    assert fallback[1] == "Sunny - 2026-11-28.xlsx"
    assert unquote(encoded[1]) == "晴天 Sunny – 排行 – 2026-11-28.xlsx"
    assert header.isascii()
