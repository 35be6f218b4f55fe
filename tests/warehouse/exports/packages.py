"""A data package as somebody else gets it: unpacked in an empty folder, with pandas and nothing of
ours; and the numbers that the report of a job shows, to compare with theirs.
"""

import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from warehouse.records.evidence import MATCHES

PANDAS = ("pandas", "numpy", "numpy.libs", "dateutil", "six.py", "tzdata")
"""What `pip install pandas` brings."""
COUNTS = ("digg_count", "comment_count", "collect_count", "share_count")
MEASURES = ("chroma_distance", "mfcc_distance", "overlap_s", "score", "speed", "semitones")
_NO_NUMBERS = (
    "svg, style, img, code, dl, h1, h3, .caption, .account, .basis, .parameters, .day, .languages,"
    ".truth, [lang=zh-Hans], section.box > details"
)
"""Parts of a report with names, ids, dates, drawings, and the error sheet, which packages have."""
_CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Recipient:
    """Somebody with an empty folder, pandas and a data package."""

    folder: Path
    libraries: Path

    def run(self, *arguments: str) -> str:
        """Run Python on the package; an error is a failed test."""
        done = subprocess.run(
            [sys.executable, "-S", "-s", *arguments],
            cwd=self.folder,
            env={"PYTHONPATH": str(self.libraries), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def numbers(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run("report_numbers.py"))
        return found

    def examples(self) -> str:
        """What the Python of the README prints; what needs more than pandas is left out."""
        page = (self.folder / "README.md").read_text(encoding="utf-8")
        blocks = [code for code in _CODE.findall(page) if "read_parquet" not in code]
        assert len(blocks) >= 2
        place = self.folder / "from_the_readme.py"
        place.write_text("\n".join(blocks), encoding="utf-8")
        try:
            return self.run(place.name)
        finally:
            place.unlink()


def hand_over(package: Path, to: Path) -> Recipient:
    """Unpack a package for somebody who has pandas alone."""
    libraries = to / "libraries"
    libraries.mkdir(parents=True)
    found = find_spec("pandas")
    assert found is not None
    assert found.origin is not None
    site = Path(found.origin).parents[1]
    for name in PANDAS:
        if (site / name).exists():
            (libraries / name).symlink_to(site / name)
    recipient = Recipient(to / "package", libraries)
    with zipfile.ZipFile(package) as archive:
        archive.extractall(recipient.folder)
    ours = "[name for name in ('warehouse', 'pipelines', 'api') if find_spec(name)]"
    assert recipient.run("-c", f"from importlib.util import find_spec; print({ours})") == "[]\n"
    return recipient


def shown_numbers(job: dict[str, Any], rejected: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The numbers of the report of a job, from its document and its rejected pairs.

    In the form of `report_numbers.py`, as far as a report shows them.
    """
    result = job["result"]
    coverage, related = result["coverage"], result["search_related"]
    outcomes: dict[str, Any] = {
        "job_id": job["job_id"],
        "algorithm": result["algorithm"],
        "requests_used": job["progress"]["requests_used"],
        "confirmed_count": result["confirmed_count"],
        "candidate_count": result["candidate_pool_size"],
        "not_confirmed_count": result["candidate_pool_size"] - result["confirmed_count"],
        "account_count": result["unique_account_count"],
        "variant_count": result["variants"]["count"],
        "variants_by_kind": result["variants"]["by_kind"],
        "version_count": result["versions"]["count"],
        "rejected_count": len(rejected),
        "not_reached": dict(Counter(one.partition(":")[0] for one in coverage["not_reached"])),
    }
    outcomes["ranking"] = [
        {"rank": one["rank"], "aweme_id": one["aweme_id"], **one["statistics"]}
        | {name: one[name] for name in ("hot_score", "is_viral", "link_type", "create_time")}
        for one in result["aweme_list"]
    ]
    outcomes["accounts"] = [
        {name: one[name] for name in ("sec_uid", "follower_count", "total_favorited")}
        | {"aweme_count": one["aweme_count"], "linked_video_count": one["linked_video_count"]}
        | {f"linked_{name}": one[f"linked_{name}"] for name in COUNTS}
        for one in result["account_summary"]["accounts"]
    ]
    outcomes["variants"] = [
        {"rank": one["rank"], "aweme_id": one["aweme_id"], "kind": one["variant_kind"]}
        | {"hot_score": one["hot_score"], "speed": one["speed"], "semitones": one["semitones"]}
        | one["statistics"]
        for one in result["variants"]["aweme_list"]
    ]
    outcomes["rejected"] = [
        {name: one[name] for name in ("comparison_id", "observation", *MEASURES)}
        for one in rejected
    ]
    pairs = {one["evidence"]["comparison_id"]: one["evidence"] for one in _with_evidence(result)}
    outcomes["pairs"] = [
        {name: one[name] for name in ("comparison_id", *MEASURES)} for one in pairs.values()
    ]
    outcomes["sources"] = sorted(coverage["sources"], key=_source)
    outcomes["list_shares"] = [
        {"music_id": one["music_id"], "row_count": one["rows"], "own_row_count": one["own_rows"]}
        for one in coverage.get("list_genuine_share", ())
    ]
    outcomes["decisions"] = [
        {"question": one["question"], "surface": one["surface"], "tried_count": one["tried"]}
        | {"answered_count": one["answered"], "circuit_open_count": one["left_closed"]}
        | {"seldom_answers_count": one["left_sick"], "held_back_count": one["left_held_back"]}
        for one in coverage.get("decisions", ())
    ]
    outcomes["estimates"] = [
        {"unit": unit, "observed_count": one["observed"], "source_count": one["source_count"]}
        | {"estimated_count": None if one["point"] is None else round(one["point"])}
        | dict(zip(("lower_count", "upper_count"), one["interval_95"] or (None, None), strict=True))
        | {"method": one["method"], "not_estimated_reason": one["reason"]}
        | {"sample_count": one["sample_size"]}
        for unit, one in (
            ("music_id", coverage["estimates"]["music_ids"]),
            ("video", coverage["estimates"]["videos"]),
        )
    ] if coverage.get("estimates") else []  # fmt: skip
    audit = coverage.get("audit")
    outcomes["audit"] = [
        {"population_count": audit["pool"], "drawn_count": audit["drawn"]}
        | {"compared_count": audit["compared"], "carrying_count": audit["found"]}
        | {"upper_count": audit["upper_bound_count"], "upper_share": audit["upper_bound_share"]}
        | {"not_audited_reason": audit["reason"]}
    ] if audit else []  # fmt: skip
    outcomes["related_in_ranking_count"] = related["visible_ranking_overlap_count"]
    outcomes["search_related"] = {
        name: related[name] for name in ("returned_count", "high_relevance_count")
    }
    outcomes["search_related"]["videos"] = [
        {"aweme_id": one["aweme_id"], "hot_score": one["hot_score"], **one["statistics"]}
        for one in related["aweme_list"]
    ]
    outcomes["search_terms"] = [
        {"page_count": one["pages"], "item_count": one["items"], "new_item_count": one["new_items"]}
        for one in related["pagination"]["terms"]
    ]
    return outcomes


def best_rejected(pairs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best pair of each candidate that no pair accepted, explained ones first."""
    accepted = {one["candidate_aweme_id"] for one in pairs if one["verdict"] in MATCHES}
    best: dict[str, dict[str, Any]] = {}
    for pair in sorted(
        (one for one in pairs if one["verdict"] == "rejected"),
        key=lambda one: (one["observation"] is not None, one["score"] or 0.0),
        reverse=True,
    ):
        best.setdefault(pair["candidate_aweme_id"], pair)
    return [one for name, one in best.items() if name not in accepted]


def assert_repeated(shown: dict[str, Any], repeated: dict[str, Any]) -> None:
    """Every number that is shown was repeated, in its order."""
    repeated = {**repeated, "sources": sorted(repeated["sources"], key=_source)}
    for name, value in shown.items():
        assert _like(value, repeated[name]) == value, name


def assert_all_numbers_are(page: str, numbers: dict[str, Any]) -> None:
    """Each number in the English text of a report is one of these, as a report writes it."""
    tree = LexborHTMLParser(page)
    for hidden in tree.css(_NO_NUMBERS):
        hidden.decompose()
    assert tree.body is not None
    text = tree.body.text(separator=" ")
    dates = r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?|\d+ [A-Z][a-z]{2} \d{4}"
    text = re.sub(rf"{dates}|\b\d{{15,}}\b|\b[0-9]\.\d{{1,2}} [A-Z][a-z]+ ", " ", text)
    # a digit next to a letter is of a name
    tokens = set(re.findall(r"(?<![\w.,])(?:\d[\d,]*\.\d+|\d(?:[\d,]*\d)?)(?![\w])", text))
    written = {
        form.format(value).lstrip("-+").rstrip()
        for value in _numbers_in(numbers)
        for form in ("{:,}", "{:.1f}", "{:.2f}", "{:.3g}", "{:g}", "{:.0f}")
    }
    shares = {f"{100 * value:.1f}" for value in _numbers_in(numbers) if isinstance(value, float)}
    left = tokens - written - shares - _CONSTANTS
    assert left == set(), [text[max(0, text.find(one) - 60) :][:120] for one in left]


_CONSTANTS = frozenset({"4", "3", "8", "2", "5.5", "20", "95", "2023", "0", "1"})
"""Numbers of the report's own sentences: weights, limits of variants, first 20, a year."""


def _with_evidence(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (video for video in result["aweme_list"] if video.get("evidence"))


def _source(source: dict[str, Any]) -> tuple[str, str]:
    return source["surface"], source["stop_reason"]


def _like(shown: Any, repeated: Any) -> Any:
    """What was repeated, without what is not shown."""
    if isinstance(shown, dict):
        return {name: _like(value, repeated.get(name)) for name, value in shown.items()}
    if isinstance(shown, list) and isinstance(repeated, list) and len(shown) == len(repeated):
        return [_like(one, other) for one, other in zip(shown, repeated, strict=True)]
    return repeated


def _numbers_in(value: Any) -> Iterator[int | float]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _numbers_in(one)
    elif isinstance(value, str) and value.startswith("{"):
        yield from _numbers_in(json.loads(value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
