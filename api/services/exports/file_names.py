"""Names of files after what they hold, and the header of a response that carries one.

A name is the title of its subject, what the file holds, and the day: "Silver Glasshouse – ranking –
2026-11-28.xlsx". Every system can store it. Demo data is marked in it.
"""

import re
from collections.abc import Mapping
from unicodedata import normalize
from urllib.parse import quote

from pipelines.documents.html_pages import plain_text
from pipelines.documents.messages import Message

FILE_CONTENTS: Mapping[str, Message] = {
    "ranking": Message("ranking", "排行"),
    "report": Message("report", "报告"),
    "videos": Message("videos", "作品"),
    "accounts": Message("accounts", "账号"),
    "variants": Message("variants", "变体"),
    "versions": Message("versions", "其他版本"),
    "search_related": Message("search results", "搜索结果"),
    "coverage": Message("coverage", "覆盖情况"),
    "comparisons": Message("comparisons", "音频比对"),
    "chart": Message("chart", "榜单"),
    "metrics": Message("creator metrics", "创作者指标"),
    "series": Message("over time", "历史趋势"),
    "track_usage": Message("usage", "使用量"),
    "track_scans": Message("scans", "扫描记录"),
    "catalog": Message("catalogue", "曲库"),
}
_DEMO = Message("demo data", "演示数据")
_MOST_TITLE_CHARS = 48
_REFUSED = re.compile(r'[<>:"/\\|?*]')
# Windows keeps these names, whatever follows after a dot, for devices.
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


def to_file_name(
    title: str, contents: str, day: str, ending: str, *, is_demo: bool, language: str
) -> str:
    """Return the name of a file, whose title may be any text from outside.

    Args:
        title: What the file is about, for example the title of a track.
        contents: What it holds: a key of `FILE_CONTENTS`.
        day: Day of the data, `2026-11-28`.
        ending: Ending of the name, without a dot.
        is_demo: Whether the name says that it is demo data.
        language: Language of the words, `en` or `zh`.
    """
    safe = " ".join(_REFUSED.sub(" ", plain_text(title)).split())
    safe = safe[:_MOST_TITLE_CHARS].strip(" .")  # a leading dot would hide the file
    safe = f"_{safe}" if _DEVICE.match(safe) else safe
    parts = [safe, FILE_CONTENTS[contents].text(language), day]
    if is_demo:
        parts.append(_DEMO.text(language))
    return f"{' – '.join(part for part in parts if part)}.{ending}"


def attachment_headers(name: str) -> dict[str, str]:
    """Return the header that names a downloaded file (RFC 6266), with a fallback in ASCII."""
    plain = normalize("NFKD", name.replace("–", "-")).encode("ascii", "ignore").decode()
    # Without letters of ASCII, only separators are left of a part.
    parts = [part.strip() for part in plain.rpartition(".")[0].split(" - ")]
    stem = " - ".join(part for part in parts if part) or "sametrack"
    fallback = f"{stem}.{name.rpartition('.')[2]}"
    encoded = f"UTF-8''{quote(name, safe='')}"
    return {"Content-Disposition": f'attachment; filename="{fallback}"; filename*={encoded}'}
