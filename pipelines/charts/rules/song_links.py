"""Link songs of the chart to music ids: by rule with a reason, or by a user's statement.

The chart and the platform share no id, so names are compared, and links extend to music ids with
the same recording confirmed by audio. A rule's confidence is a class, not a probability; a user's
statement wins. Not here: reading either side (`warehouse.queries.charts`).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from pipelines.scan.rules.titles import folded, song_names
from warehouse.records.charts import AudioMatch, PlatformMusic, SongLinkDecision

LINK_METHOD = "names-1"
"""Increase this with every change of a rule, so that rows record which rules they follow."""

Relation = Literal["same", "possible", "different", "none"]
Confidence = Literal["manual", "high", "medium", "low"]
Reason = Literal[
    "manual_same",
    "manual_different",
    "title_and_artist",
    "title_and_one_artist",
    "confirmed_recording",
    "title_without_addition",
    "confirmed_variant",
    "title_only",
    "artist_differs",
    "no_longer_linked",
]

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

# From the strongest to the weakest.
_RELATIONS: tuple[Relation, ...] = get_args(Relation)
_CLASSES: tuple[Confidence, ...] = get_args(Confidence)
_STRENGTH = {reason: place for place, reason in enumerate(RULES)}
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
    audio_matches: Iterable[AudioMatch] = (),
    statements: Iterable[SongLinkDecision] = (),
) -> tuple[SongMatch, ...]:
    """Return one link for every related pair, sorted by song and music id.

    The order of the inputs does not matter. One-letter titles name no song: only a user's
    statement can link those.
    """
    songs_by_key = {song.song_key: song for song in songs}
    sounds_by_name: dict[str, list[PlatformMusic]] = defaultdict(list)
    for sound in sounds:
        for name in song_names(sound.title):
            sounds_by_name[name].append(sound)

    # A song and a music id with a common title; the first title of a song that matches counts.
    links: dict[tuple[str, str], SongMatch] = {}
    for song in songs_by_key.values():
        for name in song_names(song.title):
            for sound in sounds_by_name.get(name, ()):
                link = _link(song.song_key, sound.music_id, _compare_artists(song, sound))
                links.setdefault((link.song_key, link.music_id), link)

    # A user's statement wins over the names.
    for (song_key, music_id), statement in newest_statements(statements).items():
        if statement.said != "withdrawn" and song_key in songs_by_key:
            reason: Reason = "manual_same" if statement.said == "same" else "manual_different"
            links[song_key, music_id] = _link(song_key, music_id, reason)

    # Links by audio replace weaker ones, the strongest last.
    extended = _extend_by_audio(links.values(), audio_matches)
    for link in sorted(extended, key=_strength, reverse=True):
        key = (link.song_key, link.music_id)
        if key not in links or _strength(link) < _strength(links[key]):
            links[key] = link
    return tuple(links[key] for key in sorted(links))


def newest_statements(
    statements: Iterable[SongLinkDecision],
) -> dict[tuple[str, str], SongLinkDecision]:
    """Return the newest statement of each pair, including withdrawn ones."""
    ordered = sorted(statements, key=lambda statement: (statement.said_at, statement.link_id))
    return {(statement.song_key, statement.music_id): statement for statement in ordered}


def _compare_artists(song: Song, sound: PlatformMusic) -> Reason:
    """Return why a song and a sound with a common title are linked: how their artists agree."""
    # The author of an original sound is whoever uploaded it, not an artist.
    sound_artists = artists_of(None if sound.is_original_sound else sound.author)
    song_artists = artists_of(song.artist)
    if not song_artists or not sound_artists:
        return "title_only"
    if not song_artists & sound_artists:
        return "artist_differs"
    if folded(song.title) != folded(sound.title or ""):
        return "title_without_addition"
    return "title_and_artist" if song_artists == sound_artists else "title_and_one_artist"


def artists_of(text: str | None) -> frozenset[str]:
    """Return the folded artists that a text names; empty if it names none."""
    plain = unicodedata.normalize("NFKC", text or "")
    return frozenset(filter(None, (folded(part) for part in _ARTISTS.split(plain))))


def _extend_by_audio(
    links: Iterable[SongMatch], audio_matches: Iterable[AudioMatch]
) -> Iterator[SongMatch]:
    """Extend links to music ids with the same recording, in both directions, one step only."""
    same_sound: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for match in audio_matches:
        if match.track != match.music_id:
            same_sound[match.track].add((match.music_id, match.is_variant))
            same_sound[match.music_id].add((match.track, match.is_variant))
    for base in links:
        if base.relation not in {"same", "possible"}:
            continue
        for music_id, is_variant in sorted(same_sound[base.music_id]):
            reason: Reason = "confirmed_variant" if is_variant else "confirmed_recording"
            link = _link(base.song_key, music_id, reason)
            # The link is at most as certain as the link that it is derived from, and not manual.
            limit: Confidence = "high" if base.confidence == "manual" else base.confidence
            yield replace(
                link,
                relation="same" if link.relation == base.relation == "same" else "possible",
                confidence=max(link.confidence, limit, key=_CLASSES.index),
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
