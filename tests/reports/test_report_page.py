"""The report is one safe file that asks the network for nothing."""

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from api.services.evidence.report_evidence import ReportEvidence
from api.services.report.figures import to_gauges
from api.services.report.ground_truth import GroundTruthVideo, judge
from api.services.report.render import render_report

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"' onmouseover=x \u202egnp"
type Build = Callable[..., dict[str, Any]]


class Page(HTMLParser):
    """Elements and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("desc", ["plain", HOSTILE])
def test_no_text_becomes_an_element_or_an_attribute(build_job: Build, desc: str) -> None:
    calm = Page(render_report(build_job(desc="calm")))
    page = Page(render_report(build_job(desc=desc)))
    assert [name for name, _ in page.elements] == [name for name, _ in calm.elements]
    assert not page.of("script")
    assert not any(name.startswith("on") for _, found in page.elements for name in found)


def test_marks_that_turn_a_text_are_nowhere(build_job: Build) -> None:
    job = build_job(desc=HOSTILE)
    job["result"]["music"]["title"] = "a\u202eb\u061cc"  # the error sheet names the track, too
    text = render_report(job)
    assert "abc" in text
    assert not {"\u202e", "\u061c"} & set(text)


def test_report_page_loads_no_resources(build_job: Build) -> None:
    page = Page(render_report(build_job()))
    loading = {"link", "img", "script", "iframe", "object", "embed", "video", "audio", "form"}
    assert not loading & {name for name, _ in page.elements}
    assert not [found for _, found in page.elements if "src" in found or "style" in found]
    assert "url(" not in render_report(build_job())


def test_the_policy_allows_the_style_sheet_alone(build_job: Build) -> None:
    text = render_report(build_job())
    style = re.search(r"<style>(.*)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    (policy,) = (meta["content"] for meta in Page(text).of("meta") if "http-equiv" in meta)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "http://[", "", None]
)
def test_only_web_addresses_become_links(build_job: Build, address: str | None) -> None:
    job = build_job(works=1)
    job["result"]["aweme_list"][0]["share_url"] = address
    assert not Page(render_report(job)).of("a")


def test_both_languages_are_there(build_job: Build) -> None:
    text = render_report(build_job())
    for words in ("Ranking", "排行", "Coverage", "覆盖情况"):
        assert words in text


def test_every_audio_link_shows_its_numbers_against_their_limits(build_job: Build) -> None:
    job = build_job()
    heard = {
        video["evidence"]["comparison_id"]
        for video in job["result"]["aweme_list"]
        if "evidence" in video
    }
    page = Page(render_report(job))
    assert len([found for found in page.of("svg") if found.get("class") == "gauge"]) == 4 * len(
        heard
    )


@pytest.mark.parametrize(
    ("seconds", "limit", "is_met"), [(1.997, 2.0, True), (3.0, 2.0, True), (5.5, 5.5, True)]
)
def test_an_excerpt_is_measured_against_its_own_length(
    build_job: Build, seconds: float, limit: float, is_met: bool
) -> None:
    (heard,) = (video["evidence"] for video in build_job()["result"]["variants"]["aweme_list"])
    gauges = to_gauges(heard | {"segment": "local", "overlap_s": seconds})
    (overlap,) = (gauge for gauge in gauges if gauge.name == "overlap_s")
    assert (overlap.limit, overlap.is_met) == (limit, is_met)


def test_a_variant_stands_apart_with_its_speed(build_job: Build) -> None:
    text = render_report(build_job())
    ranking, _, variants = text.partition("Changed, or a few seconds</span>")
    assert "× 1.10" in variants
    assert "× 1.10" not in ranking


def test_versions_stand_apart_with_their_scores(build_job: Build) -> None:
    job = build_job()
    (changed,) = job["result"]["variants"]["aweme_list"]
    video = {**changed, "aweme_id": "7311", "version_score": 0.83}
    assert "Other versions" not in render_report(job)
    job["result"]["versions"] = {"count": 1, "aweme_list": [video]}
    text = render_report(job)
    before, _, versions = text.partition("Other versions</span>")
    assert "0.83" in versions
    assert "7311" not in before
    assert "不计入任何合计" in versions


def test_a_rejected_pair_says_what_it_shares(build_job: Build) -> None:
    job = build_job()
    evidence: Any = {
        **job["result"]["variants"]["aweme_list"][0]["evidence"], "verdict": "rejected",
        "observation": "uncertain", "shared_part": "closing_sound", "relation": "shares_part",
    }  # fmt: skip
    alike: Any = {
        **evidence,
        "shared_part": None,
        "relation": "version",
        "candidate_aweme_id": "7312",
    }
    text = render_report(job, pairs=ReportEvidence(rejected=(evidence, alike), rejected_count=2))
    assert "shares only the closing sound" in text
    assert "仅片尾音效相同" in text
    assert "another version" in text


def test_demo_data_says_so_and_real_data_does_not(build_job: Build) -> None:
    banner = "demo data, generated on this machine"
    assert banner in render_report(build_job(demo=True))
    assert banner not in render_report(build_job(demo=False))


def test_the_truth_is_compared_only_where_there_is_one(build_job: Build) -> None:
    job = build_job()
    muted = GroundTruthVideo(
        aweme_id=job["result"]["aweme_list"][0]["aweme_id"], music_id="1", kind="reupload",
        sound="muted", names_recording=True, carries_recording=False, is_variant=False,
        is_reachable=False,
    )  # fmt: skip
    assert "ground truth" not in render_report(job)
    judgement = judge("1", job["result"]["aweme_list"], [], [muted])
    text = render_report(job, judgement=judgement)
    assert "ground truth" in text
    assert ", muted (" in text
    assert "Label true" in text
    assert "NOT met" in text


@pytest.mark.parametrize("works", [0, 1, 500])
def test_any_number_of_works_makes_a_page(build_job: Build, works: int) -> None:
    job = build_job(works=works or 1)
    job["result"]["aweme_list"] = job["result"]["aweme_list"][:works]
    assert render_report(job).rstrip().endswith("</html>")


def test_unknown_is_a_dash_never_a_zero(build_job: Build) -> None:
    job = build_job(works=1)
    video = job["result"]["aweme_list"][0]
    video["statistics"] = dict.fromkeys(video["statistics"])
    video |= {"hot_score": None, "author": None, "desc": None, "create_time": None}
    row = render_report(job).partition("<tbody>")[2].partition("</tbody>")[0]
    assert row.count("—") >= 8
    assert ">0<" not in row
