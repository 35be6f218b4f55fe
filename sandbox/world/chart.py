"""Music chart of a world: its issues, which 500 songs each lists, and how they move.

Issues begin on 2021-01-01 and are published daily at 08:30 in Shanghai, with gaps. The chart has
500 slots, each held by one song after another, so that any issue can be computed without its
predecessors. Some songs are tracks of the world. Hosts and wire formats are in
`server/surfaces/charts.py`.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from sandbox.world.content import texts
from sandbox.world.content.tables import Floats
from sandbox.world.random_streams import Ints, share_of, stream
from sandbox.world.world import SandboxWorld

FIRST_DAY = date(2021, 1, 1)
LAST_YEAR = 2045
"""Last year of the calendar; the clock of a world is never moved this far."""
LONG_GAP_DAYS = 24
_FIRST_ID = 44_400
_ID_STEPS = (11, 54)  # one counter serves all charts, so ids move on by some thirty a day
_GAP = 0.025
_GAP_GOES_ON = 0.35
_SHANGHAI_S = 8 * 3600
_APPEARS_S = 8 * 3600 + 30 * 60
_LATEST_BY_S = 90 * 60
_DAY_S = 86_400
SONGS = 500
_TERM_DAYS = 75.0
_TERM_SPREAD = 0.9
_SHORTEST_DAYS, _LONGEST_DAYS = 4, 900
_CHARTED_OF = 4
"""One track in so many has never been on the chart."""
_OWN_TERM_DAYS = 60
_OWN_FAVOUR = 1.3
_STRENGTHS = 64
_WAVES = 0.22
_EPOCH_DAY = (FIRST_DAY - FIRST_DAY.replace(year=1970)).days
"""Days from the unix epoch to the first issue."""

DateForm = Literal["both", "text", "none"]
"""Where an issue shows its date: in a time and in a text, in the text only, nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxIssue:
    """One issue.

    Attributes:
        place: Its position among all issues; the oldest is 0.
        volid: Its id; ids grow with the date in irregular steps.
        day: Its date.
        number: Its number within the year, from 1.
        date_form: Where guests can see the date.
    """

    place: int
    volid: int
    day: date
    number: int
    date_form: DateForm

    @property
    def name(self) -> str:
        """Name of the issue."""
        return f"{self.number}期"


class IssueCalendar:
    """All issues of a world's chart, equal for equal seeds."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        days = (date(LAST_YEAR, 12, 31) - FIRST_DAY).days + 1
        rng = stream(seed, "chart calendar")
        appears = rng.random(days) >= _GAP
        goes_on = rng.random(days) < _GAP_GOES_ON
        appears[1:] &= ~(~appears[:-1] & goes_on[1:])
        start = (date(2023, 1, 1) - FIRST_DAY).days + int(rng.integers(40, 200))
        appears[start : start + LONG_GAP_DAYS] = False
        appears[0] = True
        ids = _FIRST_ID + np.cumsum(rng.integers(*_ID_STEPS, size=days))
        self.days: Ints = np.flatnonzero(appears).astype(np.int64)
        self.volids: Ints = ids[self.days].astype(np.int64)
        forms = rng.random(self.days.size)
        self._forms = np.where(forms < 0.01, 2, np.where(forms < 0.03, 1, 0))  # noqa: PLR2004  # one and two in a hundred

    @cached_property
    def numbers(self) -> Ints:
        """Number within its year of each issue."""
        dates = np.datetime64(FIRST_DAY) + self.days
        years = dates.astype("datetime64[Y]")
        first = np.searchsorted(years, years, side="left")
        return np.arange(years.size, dtype=np.int64) - first + 1

    def count_at(self, now: int) -> int:
        """Return the number of issues published by a unix time."""
        passed = (now + _SHANGHAI_S - _APPEARS_S) // _DAY_S
        return int(np.searchsorted(self.days, passed - _EPOCH_DAY, side="right"))

    def released_count_at(self, now: int) -> int:
        """Return the number of issues that have appeared by a unix time if issues come late."""
        count = self.count_at(now)
        is_awaited = count > 0 and issue_release_time(self.at(count - 1)) > now
        return count - is_awaited

    def at(self, place: int) -> SandboxIssue:
        """Return the issue at a position."""
        forms: tuple[DateForm, ...] = ("both", "text", "none")
        return SandboxIssue(
            place=place, volid=int(self.volids[place]),
            day=FIRST_DAY + timedelta(days=int(self.days[place])),
            number=int(self.numbers[place]), date_form=forms[int(self._forms[place])],
        )  # fmt: skip

    def find(self, volid: str) -> SandboxIssue | None:
        """Return the issue of an id, published or not; None for an id of another chart."""
        if not (volid.isascii() and volid.isdigit() and len(volid) <= 9):  # noqa: PLR2004  # digits of an id
            return None
        place = int(np.searchsorted(self.volids, int(volid)))
        if place >= self.volids.size or int(self.volids[place]) != int(volid):
            return None
        return self.at(place)


def issue_publication_time(day: date) -> int:
    """Return the unix seconds at which the issue of a day is published."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return int(midnight.timestamp()) - _SHANGHAI_S + _APPEARS_S


def issue_release_time(issue: SandboxIssue) -> int:
    """Return the unix seconds at which a late issue appears: up to 10:00, though dated 08:30."""
    share = share_of(str(issue.volid), "late")
    return issue_publication_time(issue.day) + int(share * _LATEST_BY_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartedSong:
    """One song of one issue.

    Attributes:
        rank: Its rank, from 1.
        previous_rank: Its rank in the previous issue; 0 if it was not on it.
        issue_count: Number of issues it has been in, including this one.
        title: Title, which may hold " - ".
        artists: At least one.
        duration_s: Length.
        song_hash: 32 hex digits, the same in every issue.
        number: Number of the song, the same in every issue.
        music_id: Id of the track on the platform; None for a song outside of the world.
    """

    rank: int
    previous_rank: int
    issue_count: int
    title: str
    artists: tuple[str, ...]
    duration_s: int
    song_hash: str
    number: int
    music_id: str | None


class SandboxChart:
    """The chart of a world. Issues are generated on demand; each takes a few milliseconds."""

    def __init__(self, world: SandboxWorld) -> None:
        self.world = world
        self.calendar = IssueCalendar(world.seed)
        self.songs = lru_cache(maxsize=64)(self._songs)
        self._places = lru_cache(maxsize=256)(self._ranks_of)
        self._strengths = stream(world.seed, "chart strengths").normal(
            0.0, 0.9, size=(SONGS, _STRENGTHS)
        )
        self._periods = stream(world.seed, "chart waves").uniform(9.0, 40.0, size=SONGS)
        self._phases = stream(world.seed, "chart phases").random(SONGS)

    def _songs(self, place: int) -> tuple[ChartedSong, ...]:
        """Return the songs of the issue at a position, by rank."""
        holders, ranks = self._places(place)
        before = self._ranks_before(place, holders)
        issues = self._issue_counts(place, holders)
        seats = np.argsort(ranks)
        return tuple(
            self._song(seat, holder, rank=rank + 1, previous_rank=previous, issue_count=count)
            for rank, (seat, holder, previous, count) in enumerate(
                zip(
                    seats.tolist(), holders[seats].tolist(), before[seats].tolist(),
                    issues[seats].tolist(), strict=True,
                )
            )
        )  # fmt: skip

    def latest(self, now: int) -> SandboxIssue:
        """Return the newest issue at a unix time.

        Raises:
            LookupError: No issue had been published yet.
        """
        count = self.calendar.count_at(now)
        if count == 0:
            raise LookupError("the chart had not begun")
        return self.calendar.at(count - 1)

    def _ranks_of(self, place: int) -> tuple[Ints, Ints]:
        """Return, per slot, which of its songs holds it, and the rank from 0."""
        day = int(self.calendar.days[place])
        holders = (self._ends <= day).sum(axis=1)
        seats = np.arange(SONGS)
        starts = np.where(holders > 0, self._ends[seats, holders - 1], 0)
        age = (day - starts + 1) / (self._ends[seats, holders] - starts + 1)
        rises = np.sqrt(age) * (1 - age) * 2.6
        waves = np.sin(2 * np.pi * (day / self._periods + self._phases))
        strengths = self._strengths[seats, holders % _STRENGTHS] + self._favours[seats, holders]
        power = strengths + np.log(0.05 + rises) + _WAVES * waves
        ranks = np.empty(SONGS, dtype=np.int64)
        ranks[np.argsort(-power, kind="stable")] = seats
        return holders.astype(np.int64), ranks

    def _ranks_before(self, place: int, holders: Ints) -> Ints:
        if place == 0:
            return np.zeros(SONGS, dtype=np.int64)
        before, ranks = self._places(place - 1)
        return np.where(before == holders, ranks + 1, 0).astype(np.int64)

    def _issue_counts(self, place: int, holders: Ints) -> Ints:
        starts = np.where(holders > 0, self._ends[np.arange(SONGS), holders - 1], 0)
        first = np.searchsorted(self.calendar.days, starts)
        return (place - first + 1).astype(np.int64)

    def _song(
        self, seat: int, holder: int, *, rank: int, previous_rank: int, issue_count: int
    ) -> ChartedSong:
        number = 10_000_000 + seat * 4096 + holder
        track = self._tracks.get((seat, holder))
        title, artists = self._track_names(track) if track is not None else self._names(number)
        sound = None if track is None else self.world.tracks[track]
        return ChartedSong(
            rank=rank, previous_rank=previous_rank, issue_count=issue_count, title=title,
            artists=artists, duration_s=150 + number * 37 % 130,
            song_hash=hashlib.md5(f"{self.world.seed}:{number}".encode(), usedforsecurity=False)
            .hexdigest().upper(),
            number=number, music_id=None if sound is None else sound.music_id,
        )  # fmt: skip

    def _track_names(self, track: int) -> tuple[str, tuple[str, ...]]:
        score = self.world.tracks[track].score
        return self.world.title_of(score), (texts.artist_name(self.world.seed, score),)

    def _names(self, number: int) -> tuple[str, tuple[str, ...]]:
        """Return title and artists of a song outside of the world; some titles contain " - "."""
        digest = hashlib.blake2b(f"{self.world.seed}:{number}".encode(), digest_size=8).digest()
        mood, thing, place, first, second, third, form, more = digest
        title = _of(texts.MOODS_ZH, mood) + _of(texts.THINGS_ZH, thing)
        english = f"{_of(texts.MOODS_EN, mood)} {_of(texts.THINGS_EN, place)}"
        forms = (
            title, f"{title}的{_of(texts.PLACES_ZH, place)}", english, f"{title} ({english})",
            f"{title} - Live", f"{english} - {_of(texts.PLACES_ZH, place)}", title, english,
        )  # fmt: skip
        latin = (_of(texts.SYLLABLES, first) + _of(texts.SYLLABLES, second)).title()
        artists = (f"{latin}{_of(texts.MOODS_ZH, third)}", f"{_of(texts.THINGS_ZH, first)}乐队")
        return forms[form % len(forms)], artists if more % 5 == 0 else artists[more % 2 :][:1]

    @cached_property
    def _ends(self) -> Ints:
        """Return, per slot, the days on which its songs leave it, shape (SONGS, terms)."""
        days = (LAST_YEAR - FIRST_DAY.year + 2) * 366
        rng = stream(self.world.seed, "chart terms")
        drawn = np.exp(rng.normal(np.log(_TERM_DAYS), _TERM_SPREAD, size=(SONGS, 400)))
        terms = drawn.clip(_SHORTEST_DAYS, _LONGEST_DAYS).astype(np.int64)
        terms[:, 0] = 1 + (terms[:, 0] * rng.random(SONGS)).astype(np.int64)
        ends = np.cumsum(terms, axis=1)
        enough = int((ends.min(axis=0) < days).sum()) + 1
        return ends[:, : min(enough, ends.shape[1])].astype(np.int64)

    @cached_property
    def _tracks(self) -> dict[tuple[int, int], int]:
        """Map songs that enter the chart around a track's release date to that track."""
        taken: dict[tuple[int, int], int] = {}
        starts, terms = self._ends[:, :-1], np.diff(self._ends, axis=1)
        usual = np.where(terms >= _OWN_TERM_DAYS, 0, 10_000)
        for track, sound in enumerate(self.world.tracks):
            if track % _CHARTED_OF == _CHARTED_OF - 1:
                continue
            came_out = (int(sound.music_id) >> 32) // _DAY_S - _EPOCH_DAY
            distance = np.abs(starts - came_out - 3) + usual
            seat, term = divmod(int(np.argmin(distance)), distance.shape[1])
            usual[seat, term] = 1_000_000
            taken[seat, term + 1] = track
        return taken

    @cached_property
    def _favours(self) -> Floats:
        """Return the bonus of the world's tracks, so that some reach the top 20."""
        favours = np.zeros(self._ends.shape)
        for seat, term in self._tracks:
            favours[seat, term] = _OWN_FAVOUR
        return favours


def _of(values: tuple[str, ...], number: int) -> str:
    return values[number % len(values)]
