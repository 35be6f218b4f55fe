"""Parsers of an issue's songs in every form of the chart, and the check that the issue is right.

The forms: `chart_songs` (JSON, any issue), `chart_latest` (JSON, the latest issue), and the HTML
pages `chart_html` and `chart_html_old`, which hold the songs as a list in a script.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import NoReturn

from pipelines.platform.chartsrc import bodies
from pipelines.platform.parsers.fields import MAX_INT, JsonNode, decode_json, refuse_too_many_values
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.charts import ChartPage, ChartSong

PAGE_SIZE = 100  # songs on a page of `chart_songs`, as requested by us
HTML_PAGE_SIZE = 22  # on a page of `chart_html`
OLD_HTML_PAGE_SIZE = 30  # and of `chart_html_old`
_LATEST_SIZE = 30  # when the response does not say
_FEATURES = re.compile(r"global\.features\s*=\s*(?=\[)")
_UPDATED = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\s*更新", re.ASCII)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)  # NaN and Infinity are no JSON


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def parse_songs(body: bytes, *, page: int, context: bodies.ChartParseContext) -> ChartPage:
    """Parse a page of `chart_songs`.

    Raises:
        ChartUnavailableError: The response is a refusal, or the list is empty.
        SubstitutionError: The songs are not all of one issue.
        StructureChangedError: Keys or types are unknown.
    """
    data = bodies.chart_data(bodies.parse_document(body, context=context))
    total, first = bodies.non_negative_int(data, "total"), (page - 1) * PAGE_SIZE + 1
    songs = _listed(data, "info", is_end=total is not None and total > 0 and first > total)
    return _page(songs, page=page, first=first, total=total, context=context)


def parse_latest(body: bytes, *, page: int, context: bodies.ChartParseContext) -> ChartPage:
    """Parse a page of `chart_latest`.

    Raises:
        UpstreamError: As for `parse_songs`.
    """
    document = bodies.parse_document(body, context=context)
    songs, about = document.must_node("songs"), document.node("info")
    total = bodies.non_negative_int(songs, "total")
    size = bodies.non_negative_int(songs, "pagesize") or _LATEST_SIZE
    first = (page - 1) * size + 1
    listed = _listed(songs, "list", is_end=total is not None and total > 0 and first > total)
    chart_page = _page(listed, page=page, first=first, total=total, context=context)
    # Both the document and its songs may state the date of the issue.
    stated = None if about is None else bodies.find_date(about, "rank_id_publish_date")
    if stated is not None and chart_page.chart_date not in {None, stated}:
        raise _other_issue(context.surface, f"{stated} and {chart_page.chart_date}")
    return replace(chart_page, chart_date=chart_page.chart_date or stated)


def parse_song_page(
    body: bytes, *, page: int, page_size: int, context: bodies.ChartParseContext
) -> ChartPage:
    """Parse a page of `chart_html` or `chart_html_old`, with its date if the page shows one.

    Raises:
        UpstreamError: As for `parse_songs`.
    """
    refuse_too_many_values(body, surface=context.surface)
    text = body.decode("utf-8", "replace")
    assignment = _FEATURES.search(text)
    if assignment is None:
        raise bodies.refusal_from_text(body, context) or refusal_error(
            "no_container", "the page holds no list of songs", surface=context.surface
        )
    try:  # code follows the list
        end = _DECODER.raw_decode(text, assignment.end())[1]
        features = decode_json(text[assignment.end() : end].encode())
    except (ValueError, RecursionError) as exc:
        raise refusal_error(
            "not_json", "the list of songs is not JSON", surface=context.surface
        ) from exc
    first = (page - 1) * page_size + 1
    songs = _listed(JsonNode({"features": features}, context.surface, "$"), "features")
    updated = _UPDATED.search(text)
    return ChartPage(
        songs=tuple(parse_song_of_page(song, first + position) for position, song in songs),
        surface=context.surface,
        observed_at=context.observed_at,
        page=page,
        chart_date=bodies.find_date(JsonNode({"day": updated[1]}, "", ""), "day")
        if updated
        else None,
    )


def check_issue(
    page: ChartPage, *, volid: str | None, chart_date: date | None, is_proof_needed: bool = False
) -> None:
    """Check that a page belongs to the requested issue.

    Args:
        page: The parsed page.
        volid: The requested issue; None for the latest.
        chart_date: The date of that issue, if known.
        is_proof_needed: True when the URL does not name the issue, so that the page has to.

    Raises:
        SubstitutionError: It is another issue, or one that the page does not prove.
    """
    same_id = None if volid is None or page.volid is None else page.volid == volid
    is_dated = chart_date is not None and page.chart_date is not None
    same_day = page.chart_date == chart_date if is_dated else None
    is_proven = True in {same_id, same_day}
    if False in {same_id, same_day} or (is_proof_needed and volid is not None and not is_proven):
        raise _other_issue(page.surface, f"asked for issue {volid}")


def _listed(node: JsonNode, key: str, *, is_end: bool = False) -> Iterable[tuple[int, JsonNode]]:
    """Return the songs with their positions from 0; an empty list is an error except at the end."""
    if key not in node.values:
        raise node.missing(key)
    songs = list(node.nodes(key))
    if not songs and (not is_end or node.values[key] is None):
        raise bodies.empty_list_error(node.surface)
    return enumerate(songs)


def _page(
    songs: Iterable[tuple[int, JsonNode]],
    *,
    page: int,
    first: int,
    total: int | None,
    context: bodies.ChartParseContext,
) -> ChartPage:
    nodes = list(songs)
    # Each song states its issue. Until an issue is released, the chart serves the previous one's.
    volids = {node.id("rank_cid") for _, node in nodes} - {None}
    days = {bodies.find_date(node, "rank_id_publish_date") for _, node in nodes} - {None}
    if len(volids) > 1 or len(days) > 1:
        raise _other_issue(context.surface, "songs of several issues")
    return ChartPage(
        songs=tuple(parse_song(node, first + n) for n, node in nodes),
        surface=context.surface,
        observed_at=context.observed_at,
        page=page,
        volid=next(iter(volids), None),
        chart_date=next(iter(days), None),
        total=total,
    )


def _other_issue(surface: str, what: str) -> Exception:
    return refusal_error("chart_other_issue", f"another issue came: {what}", surface=surface)


_PARTS = " - "  # between artist and title in a file name; titles may contain it too
_JOIN = "、"
_COVER_SIZE = "240"
_ON_PAGE = {"FileName": "filename", "Hash": "hash", "timeLen": "duration"}


def parse_song(node: JsonNode, rank: int) -> ChartSong:
    """Parse a song of a JSON form; `rank` counts from 1.

    Raises:
        StructureChangedError: It has no title, or a field has an unknown type.
    """
    # Older songs have only a file name, "artist - title"; titles may contain the mark, too.
    filename = node.name("filename") or ""
    artist, mark, title = filename.partition(_PARTS)
    if not mark:
        artist, title = "", filename
    title = node.name("songname") or title.strip()
    if not title:
        raise node.missing("songname")
    authors = [author.name("author_name") for author in node.nodes("authors")]
    joined = _JOIN.join(name for name in authors if name)
    return ChartSong(
        rank=rank,
        title=title,
        artist=joined or node.name("singername") or artist.strip() or None,
        duration_s=_seconds(node, "duration"),
        cover_url=_cover(node),
        previous_rank=bodies.non_negative_int(node, "last_sort") or None,  # 0 for a new song
        sort=bodies.non_negative_int(node, "sort") or None,  # has gaps, so the position is the rank
        song_hash=node.name("hash"),
        album_audio_id=node.id("album_audio_id"),
        album_id=node.id("album_id"),
        rank_count=bodies.non_negative_int(node, "rank_count") or None,
        is_first=node.flag("isfirst"),
    )


def parse_song_of_page(node: JsonNode, rank: int) -> ChartSong:
    """Parse a song from the script of an HTML page, which spells keys differently.

    Raises:
        StructureChangedError: It has no title, or a field has an unknown type.
    """
    # Pages give no cover and no previous rank; `timeLen` is in seconds, too.
    values = {_ON_PAGE.get(key, key): value for key, value in node.values.items()}
    return parse_song(JsonNode(values, node.surface, node.path), rank)


def _seconds(node: JsonNode, key: str) -> int | None:
    """Return a duration in whole seconds, also from a fraction; 0 means unknown (None)."""
    value = node.values.get(key)
    if not isinstance(value, float):
        return bodies.non_negative_int(node, key) or None
    if not math.isfinite(value) or not 0 <= value < MAX_INT:
        raise node.changed(key, value)
    return round(value) or None


def _cover(node: JsonNode) -> str | None:
    """Return the URL of the cover; None if it is empty or no URL."""
    more = node.node("trans_param")
    form = node.name("album_sizable_cover") or (more.name("union_cover") if more else None) or ""
    address = form.replace("{size}", _COVER_SIZE)
    if address.startswith("http://"):
        address = f"https://{address.removeprefix('http://')}"
    return address if address.startswith("https://") else None
