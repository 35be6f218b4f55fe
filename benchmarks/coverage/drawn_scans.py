"""Scans of drawn worlds without audio and network: what their sources show, and what they confirm.

A scan here follows the rules of the product (`choose_candidates`, `authors_to_scan`, …) over the
lists that a guest of the sandbox sees. A comparison by audio is a look into the ground truth, so it
is never wrong: what is measured is what a scan does not see, not what it mishears.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from pipelines.parameters.scan import ScanParameters
from pipelines.scan.collect import CANDIDATES_PER_AUTHOR, CANDIDATES_PER_HASHTAG
from pipelines.scan.rules.candidate_pool import (
    Sighting,
    choose_candidates,
    choose_others,
    is_row_of,
    reserved_places,
)
from pipelines.scan.rules.coverage import (
    ConfirmedSample,
    audit_size,
    audited_rest,
    draw_sample,
    left_out,
    listed_only,
    sample_of,
    with_bound,
)
from pipelines.scan.rules.expansion import (
    CANDIDATES_PER_LIST,
    REPRESENTATIVES,
    authors_to_scan,
    hashtags_to_scan,
    videos_to_verify,
)
from pipelines.scan.rules.search import search_terms
from pipelines.settings import Settings
from sandbox.server.surfaces.search import SEARCH_DEPTH
from sandbox.world.content.tables import VideoState
from sandbox.world.ground_truth import GroundTruth
from sandbox.world.guest_view import GuestView, VideoTextIndex, hashtag_id, hashtags_in
from sandbox.world.world import SandboxWorld
from warehouse.records.coverage import AuditedVideo, AuditVerdict, RandomAudit
from warehouse.records.videos import Author, Hashtag, Music, SoundAddresses, Statistics, Video

AUDIT_SIZE = int(Settings.model_fields["random_audit_size"].default)
ROUNDS = 8
SHOWN_AT = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnWorld:
    """A world, its mode, and one track of it."""

    seed: int
    size: float
    tracks: int | None
    altered_share: float
    mode: str
    candidate_limit: int = ScanParameters().candidate_limit


@dataclass(slots=True, kw_only=True)
class DrawnScan:
    """A scan of the track of a world, up to its end.

    Attributes:
        sightings: What the lists showed.
        pool: The candidates.
        details: Pooled videos whose page was read, by id.
        confirmed: Ids of the videos that are linked to the track.
        verified: Music ids that carry the track.
        settled: Music ids with a verdict.
        unread: Units that were not read: authors, and lists of verified music ids.
        audit: The random audit after the last round; None if nothing was left out.
    """

    drawn: DrawnWorld
    sightings: list[Sighting] = field(default_factory=list)
    pool: dict[str, Sighting] = field(default_factory=dict)
    details: dict[str, Video] = field(default_factory=dict)
    confirmed: set[str] = field(default_factory=set)
    verified: set[str] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)
    screened: set[str] = field(default_factory=set)
    authors: set[str] = field(default_factory=set)
    authors_left: tuple[str, ...] = ()
    lists_left: tuple[str, ...] = ()
    hashtags: set[str] = field(default_factory=set)
    audit: RandomAudit | None = None

    @property
    def left_out(self) -> set[str]:
        """Videos that were seen and are no candidates."""
        return left_out(self.sightings, pooled=self.pool)

    @property
    def listed(self) -> set[str]:
        """Those of them that were listed under a confirmed music id."""
        return listed_only(self.sightings, confirmed_ids=self.verified, read=self.pool)

    def to_sample(self) -> ConfirmedSample:
        """Return what the estimates of the scan are made from."""
        music_of = {name: _music_of(self.details[name]) for name in self.confirmed}
        return replace(
            sample_of(self.sightings, music_of=music_of),
            unread_lists=len(self.lists_left),
            listed_videos=len(self.listed),
            left_out=len(self.left_out - self.listed),
            rest=audited_rest(self.audit, listed=self.listed),
        )


class ScanSimulator:
    """Scans one track of a world as a guest."""

    def __init__(self, drawn: DrawnWorld) -> None:
        self.drawn = drawn
        self.world = SandboxWorld(
            drawn.seed, drawn.size, tracks=drawn.tracks, altered_share=drawn.altered_share
        )
        self.is_generous = drawn.mode == "generous"
        self.view = GuestView(
            world=self.world,
            foreign_share=0.0 if self.is_generous else 1 / 7,
            has_author_screens=self.is_generous,
        )
        track = self.world.tracks[drawn.seed % len(self.world.tracks)]
        self.music_id, self.title = track.music_id, self.world.sound_title(track)
        self.artist = self.world.sound_author(track)
        self.truth = GroundTruth(self.world, self.music_id, view=self.view)
        self.texts = VideoTextIndex(self.world)
        self.scan = DrawnScan(drawn=drawn)

    def run(self) -> DrawnScan:
        """Read, compare and expand as a scan with default parameters does."""
        scan = self.scan
        scan.verified, scan.settled = {self.music_id}, {self.music_id}
        self._read_list(self.music_id)
        self._fill_pool(reserved_places(self.drawn.candidate_limit))
        own = list(scan.details.values())
        self._read_authors(own)
        self._read_hashtags(own)
        self._search()
        self._fill_pool()
        for number in range(ROUNDS):
            if number and not self._expand():
                break
            self._verify()
        self._audit()
        return scan

    def _audit(self) -> None:
        """Compare some videos at random, as a scan with default settings does."""
        left = self.scan.left_out
        size = audit_size(AUDIT_SIZE, candidate_limit=self.drawn.candidate_limit)
        sample = draw_sample(left, seed=str(self.drawn.seed), size=size)
        videos = tuple(AuditedVideo(aweme_id=name, verdict=self._verdict(name)) for name in sample)
        if left:
            audit = RandomAudit(seed="", population=len(left), sample=sample, videos=videos)
            self.scan.audit = with_bound(audit)

    def _verdict(self, aweme_id: str) -> AuditVerdict:
        if not self.is_comparable(aweme_id):
            return "not_comparable"
        return "confirmed" if self._carries(aweme_id) else "rejected"

    def is_comparable(self, aweme_id: str) -> bool:
        """Return whether a guest can play the sound of a video."""
        state = self.world.works.state[self.row_of(aweme_id)]
        return bool(state == VideoState.PUBLIC) and aweme_id not in self._silent

    def carrying_left_out(self) -> int:
        """Return how many comparable videos that are no candidates carry the recording."""
        return sum(self.is_comparable(name) and self._carries(name) for name in self.scan.left_out)

    def _expand(self) -> bool:
        scan = self.scan
        unread = sorted(scan.verified - scan.screened)
        if len(scan.pool) >= self.drawn.candidate_limit:
            room = self.drawn.candidate_limit // CANDIDATES_PER_LIST
            for music_id in unread[:room]:
                self._read_list(music_id)
            scan.lists_left = tuple(unread[room:])
            return False
        for music_id in unread:
            self._read_list(music_id)
        videos = [scan.details[name] for name in scan.details if name in scan.confirmed]
        self._read_authors(videos)
        self._read_hashtags(videos)
        return self._fill_pool()

    def _verify(self) -> None:
        scan = self.scan
        groups: dict[str, list[Video]] = {}
        for video in scan.details.values():
            groups.setdefault(_music_of(video), []).append(video)
        rejected: set[str] = set()
        for music_id in groups.keys() - scan.settled:
            chosen = videos_to_verify(groups[music_id], limit=REPRESENTATIVES)
            heard = {one.aweme_id: self._carries(one.aweme_id) for one in chosen}
            scan.settled.add(music_id)
            if any(heard.values()):
                scan.verified.add(music_id)
                rejected |= {name for name, carries in heard.items() if not carries}
        self._rejected |= rejected
        scan.confirmed |= {
            name for name, video in scan.details.items()
            if _music_of(video) in scan.verified and name not in self._rejected
        }  # fmt: skip

    @cached_property
    def _rejected(self) -> set[str]:
        return set()

    @cached_property
    def _silent(self) -> set[str]:
        works = self.world.works
        return {str(works.aweme_id[row]) for row in works.is_silent.nonzero()[0]}

    def reachable(self) -> set[str]:
        """Return the public videos of confirmed ids that a guest reaches, this scan included."""
        names = self.world.works.aweme_id
        return {str(names[row]) for row in self.truth.rounds} | self.scan.confirmed

    def music_of(self, aweme_id: str) -> str:
        """Return the music id of a video."""
        return str(self.world.sounds.music_id[self.world.works.sound[self.row_of(aweme_id)]])

    def _carries(self, aweme_id: str) -> bool:
        return self.truth.heard.get(self.row_of(aweme_id)) == "same"

    def row_of(self, aweme_id: str) -> int:
        """Return the row of a video in the world."""
        return self._rows[aweme_id]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {str(name): row for row, name in enumerate(self.world.works.aweme_id.tolist())}

    def _read_list(self, music_id: str) -> None:
        self.scan.screened.add(music_id)
        sound = self.world.sound_of(music_id)
        assert sound is not None, music_id
        rows = self.view.music_list(sound.index)[: self.drawn.candidate_limit]
        named = not self.is_generous
        self._see(rows, "music_list", music_id, names_music=named)

    def _read_authors(self, videos: list[Video]) -> None:
        scan = self.scan
        room = self.drawn.candidate_limit // CANDIDATES_PER_AUTHOR - len(scan.authors)
        authors = authors_to_scan(videos, scanned=scan.authors)
        scan.authors_left = authors[max(0, room) :]
        for sec_uid in authors[: max(0, room)]:
            scan.authors.add(sec_uid)
            account = self.world.account_of(sec_uid)
            assert account is not None, sec_uid
            self._see(self.view.first_screen(account), "user_posts", sec_uid)

    def _read_hashtags(self, videos: list[Video]) -> None:
        scan = self.scan
        room = self.drawn.candidate_limit // CANDIDATES_PER_HASHTAG - len(scan.hashtags)
        tags = hashtags_to_scan(videos, title=self.title, scanned=scan.hashtags)
        for ch_id in tags[: max(0, room)]:
            scan.hashtags.add(ch_id)
            self._see(self.texts.listed(ch_id)[:20], "hashtag_list", ch_id)

    def _search(self) -> None:
        if not self.is_generous:
            return
        for term in search_terms(self.title, self.artist, ()):
            rows = self.texts.ranked(term)[:SEARCH_DEPTH]
            left = self.drawn.candidate_limit - len(
                {one.aweme_id for one in self.scan.sightings if one.surface == "search"}
            )
            self._see(rows[: max(0, left)], "search", term, names_music=True)

    def _see(
        self, rows: Iterable[int], surface: str, entity_id: str, *, names_music: bool = False
    ) -> None:
        verified = self.scan.verified
        for row in map(int, rows):
            video = self._video(row)
            sound = _music_of(video) if names_music else None
            self.scan.sightings.append(
                Sighting(
                    aweme_id=video.aweme_id,
                    surface=surface,
                    entity_id=entity_id,
                    same_music=is_row_of(
                        sound, surface=surface, entity_id=entity_id, music_ids=verified
                    ),
                    music_id=sound,
                    desc=video.desc,
                    digg_count=video.statistics.digg_count,
                )
            )

    def _fill_pool(self, limit: int | None = None) -> bool:
        scan = self.scan
        limit = self.drawn.candidate_limit if limit is None else limit
        chosen = choose_candidates(scan.sightings, title=self.title, limit=limit, pooled=scan.pool)
        if not chosen:
            chosen = choose_others(scan.sightings, limit=limit, pooled=scan.pool)
        scan.pool.update({one.aweme_id: one for one in chosen})
        for one in chosen:
            row = self.row_of(one.aweme_id)
            if self.world.works.state[row] == VideoState.PUBLIC:
                scan.details[one.aweme_id] = self._video(row)
        return bool(chosen)

    def _video(self, row: int) -> Video:
        works = self.world.works
        caption = self.texts.captions[row]
        return Video(
            aweme_id=str(works.aweme_id[row]), surface="video_detail", observed_at=SHOWN_AT,
            desc=caption, media_type="photo" if works.is_photo[row] else "video",
            author=Author(sec_uid=self.world.sec_uid(int(works.account[row]))),
            music=Music(music_id=str(self.world.sounds.music_id[works.sound[row]])),
            hashtags=tuple(
                Hashtag(ch_id=str(hashtag_id(name)), name=name) for name in hashtags_in(caption)
            ),
            statistics=Statistics(digg_count=int(works.digg_count[row])),
            sound=SoundAddresses(is_silent_placeholder=bool(works.is_silent[row])),
        )  # fmt: skip


def _music_of(video: Video) -> str:
    assert video.music is not None, "every video of the sandbox names its sound"
    return video.music.music_id
