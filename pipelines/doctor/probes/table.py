"""Table of probes: the request of each surface, and the kind of id it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipelines.doctor.probes import requests as q
from pipelines.doctor.probes.canaries import CanaryKind
from pipelines.doctor.probes.requests import ProbeReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One probe; `needs` is the kind of id that it requests."""

    surface: str
    needs: CanaryKind
    ask: Callable[[ProbeReader, str], Awaitable[object]]


PROBES: tuple[Probe, ...] = (
    Probe(surface="music_info", needs="music_id", ask=q.ask_music_info),
    Probe(surface="music_list", needs="music_id", ask=q.ask_music_list),
    Probe(surface="trends_list", needs="music_id", ask=q.ask_trends_list),
    Probe(surface="video_page", needs="aweme_id", ask=q.ask_video_page),
    Probe(surface="slides_info", needs="aweme_id", ask=q.ask_slides_info),
    Probe(surface="media", needs="sound", ask=q.ask_media),
    Probe(surface="user_info", needs="sec_uid", ask=q.ask_user_info),
    Probe(surface="user_by_handle", needs="handle", ask=q.ask_user_by_handle),
    Probe(surface="user_posts", needs="sec_uid", ask=q.ask_user_posts),
    Probe(surface="user_page", needs="sec_uid", ask=q.ask_user_page),
    Probe(surface="short_link", needs="link", ask=q.ask_short_link),
    Probe(surface="hashtag_info", needs="ch_id", ask=q.ask_hashtag_info),
    Probe(surface="hashtag_list", needs="ch_id", ask=q.ask_hashtag_list),
    Probe(surface="search_stream", needs="term", ask=q.ask_search),
    Probe(surface="service_track", needs="song", ask=q.ask_service_track),
    Probe(surface="chart_issues", needs="rank_id", ask=q.ask_chart_issues),
    Probe(surface="chart_songs", needs="rank_id", ask=q.ask_chart_songs),
    Probe(surface="chart_latest", needs="rank_id", ask=q.ask_chart_latest),
    Probe(surface="chart_html", needs="rank_id", ask=q.ask_chart_html),
)
PROBE_BY_SURFACE = {probe.surface: probe for probe in PROBES}
