"""Link songs of the chart to music ids: by rule with a reason, or by a user's statement.

The chart and the platform share no id, so names are compared, and links extend to music ids with
the same recording confirmed by audio. A rule's confidence is a class, not a probability; a user's
statement wins. Not here: reading either side (`warehouse.queries.charts`).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from pipelines.scan.rules.titles import folded, song_names
from warehouse.records.charts import AudioMatch, PlatformMusic, SongLinkDecision

LINK_METHOD = "names-1"
"""Increase this with every change of a rule, so that rows record which rules they follow."""

Relation = Literal["same", "possible", "different", "none"]
Confidence = Literal["manual", "high", "medium", "low"]
Reason = Literal[
    "manual_same", "manual_different", "title_and_artist", "title_and_one_artist",
    "confirmed_recording", "title_without_addition", "confirmed_variant", "title_only",
    "artist_differs", "no_longer_linked",
]  # fmt: skip

RULES: Mapping[Reason, tuple[Relation, Confidence]] = {
    "manual_same": ("same", "manual"),
    "manual_different": ("different", "manual"),
    "title_and_artist": ("same", "high"),
    "title_and_one_artist": ("same", "medium"),
    "confirmed_recording": ("same", "high"),
    "title_without_addition": ("possible", "medium"),
    "confirmed_variant": ("possible", "medium"),
    "title_only": ("possible", "low"),
    "artist_differs": ("different", "low"),
    "no_longer_linked": ("none", "low"),
}
"""Relation and confidence of each reason, strongest first; the first that applies wins."""

_RELATIONS: tuple[Relation, ...] = get_args(Relation)
_CLASSES: tuple[Confidence, ...] = get_args(Confidence)
_STRENGTH = {reason: place for place, reason in enumerate(RULES)}
_CARRIED: Mapping[Confidence, Confidence] = {
    "manual": "high", "high": "high", "medium": "medium", "low": "low",
}  # fmt: skip
_ARTISTS = re.compile(r"[、,;/&+|×]|\b(?:feat|ft|vs)\b\.?|(?<=\s)x(?=\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Song:
    """A song of the chart, with its latest title and artist."""

    song_key: str
    title: str
    artist: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SongMatch:
    """The relation of a song and a music id; `via_music_id` if derived from another music id."""

    song_key: str
    music_id: str
    relation: Relation
    confidence: Confidence
    reason: Reason
    via_music_id: str | None = None


def link_songs(
    songs: Iterable[Song],
    sounds: Iterable[PlatformMusic],
    heard: Iterable[AudioMatch] = (),
    statements: Iterable[SongLinkDecision] = (),
) -> tuple[SongMatch, ...]:
    """Return one link for every related pair, sorted by song and music id.

    The order of the inputs does not matter. One-letter titles name no song: only a user's
    statement can link those.
    """
    known = {song.song_key: song for song in songs}
    said = newest_statements(statements)
    by_name = _by_name(sounds)
    links = {
        (link.song_key, link.music_id): link
        for song in known.values()
        for link in _by_names(song, by_name)
    }
    links |= {key: link for key, link in _manual(said) if key[0] in known}
    for link in sorted(_extended(links.values(), heard), key=_strength, reverse=True):
        key = (link.song_key, link.music_id)
        if key not in links or _strength(link) < _strength(links[key]):
            links[key] = link
    return tuple(links[key] for key in sorted(links))


def newest_statements(
    statements: Iterable[SongLinkDecision],
) -> dict[tuple[str, str], SongLinkDecision]:
    """Return the newest statement of each pair, including withdrawn ones."""
    ordered = sorted(statements, key=lambda one: (one.said_at, one.link_id))
    return {(one.song_key, one.music_id): one for one in ordered}


def _manual(
    said: Mapping[tuple[str, str], SongLinkDecision],
) -> Iterator[tuple[tuple[str, str], SongMatch]]:
    for key, statement in said.items():
        if statement.said != "withdrawn":
            is_same = statement.said == "same"
            yield key, _link(*key, "manual_same" if is_same else "manual_different")


def _by_name(sounds: Iterable[PlatformMusic]) -> dict[str, list[PlatformMusic]]:
    found: dict[str, list[PlatformMusic]] = defaultdict(list)
    for sound in sounds:
        for name in song_names(sound.title):
            found[name].append(sound)
    return found


def _by_names(song: Song, by_name: Mapping[str, Sequence[PlatformMusic]]) -> Iterator[SongMatch]:
    names = song_names(song.title)
    seen: set[str] = set()
    for sound in (sound for name in names for sound in by_name.get(name, ())):
        if sound.music_id not in seen:
            seen.add(sound.music_id)
            yield _link(song.song_key, sound.music_id, _compare(song, sound))


def _compare(song: Song, sound: PlatformMusic) -> Reason:
    """Compare the artists of a song and a sound with a common title; return the reason."""
    theirs = None if sound.is_original_sound else sound.author
    ours, others = artists_of(song.artist), artists_of(theirs)
    if not ours or not others:
        return "title_only"
    if not ours & others:
        return "artist_differs"
    if folded(song.title) != folded(sound.title or ""):
        return "title_without_addition"
    return "title_and_artist" if ours == others else "title_and_one_artist"


def artists_of(text: str | None) -> frozenset[str]:
    """Return the folded artists that a text names; empty if it names none."""
    plain = unicodedata.normalize("NFKC", text or "")
    return frozenset(filter(None, (folded(part) for part in _ARTISTS.split(plain))))


def _extended(links: Iterable[SongMatch], heard: Iterable[AudioMatch]) -> Iterator[SongMatch]:
    """Extend links to music ids with the same recording, in both directions, one step only."""
    others: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for one in heard:
        if one.track != one.music_id:
            others[one.track].add((one.music_id, one.is_variant))
            others[one.music_id].add((one.track, one.is_variant))
    for link in links:
        if link.relation in {"same", "possible"}:
            for music_id, is_variant in sorted(others[link.music_id]):
                reason: Reason = "confirmed_variant" if is_variant else "confirmed_recording"
                yield _limit_confidence(_link(link.song_key, music_id, reason), link)


def _limit_confidence(carried: SongMatch, base: SongMatch) -> SongMatch:
    """Limit a derived link to the confidence of the link it is derived from."""
    confidence = max(carried.confidence, _CARRIED[base.confidence], key=_CLASSES.index)
    is_same = carried.relation == base.relation == "same"
    return replace(
        carried,
        relation="same" if is_same else "possible",
        confidence=confidence,
        via_music_id=base.music_id,
    )


def _strength(link: SongMatch) -> tuple[int, int, int, str]:
    """Sort key, strongest first: manual, then relation, confidence and the order of rules."""
    is_rule = link.confidence != "manual"
    rank = _RELATIONS.index(link.relation) * len(_CLASSES) + _CLASSES.index(link.confidence)
    return (is_rule, rank, _STRENGTH[link.reason], link.via_music_id or "")


def _link(song_key: str, music_id: str, reason: Reason) -> SongMatch:
    relation, confidence = RULES[reason]
    return SongMatch(
        song_key=song_key,
        music_id=music_id,
        relation=relation,
        confidence=confidence,
        reason=reason,
    )
