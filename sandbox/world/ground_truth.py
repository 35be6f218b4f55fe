"""Ground truth: which videos contain a composition, and how a guest could find them.

What belongs here: labels from the world's own plan, never from audio matching. Results are compared
with them for precision and recall. Two labels are kept apart: what the music id of a video
promises, and what the video really plays.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal

import numpy as np

from sandbox.world.content.alterations import played_sound
from sandbox.world.content.tables import (
    LAST_CARRYING,
    LAST_VARIANT,
    Alteration,
    SandboxSound,
    VideoState,
)
from sandbox.world.guest_view import GuestView
from sandbox.world.world import SandboxWorld

Relation = Literal["same", "variant", "cover", "other_same_title", "none"]
_RELATED: tuple[Relation, ...] = ("same", "variant", "cover", "other_same_title")
PlayedSound = Literal["as_named", "muted", "replaced", "live", "voiced_over", "silent"]
"""What a video plays against what its music id names; `silent` is the placeholder of photo posts.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoTruth:
    """Ground truth of one video with respect to one music id.

    Attributes:
        aweme_id: The video.
        music_id: The music id that it uses.
        sec_uid: Its author.
        relation: What its music id promises: `same` = the recording at its own speed and pitch,
            whatever is laid over it; `variant` = the recording at another speed, tempo or pitch.
        sound: What it really plays, against the sound of its music id.
        heard: As `relation`, of what it really plays.
        carries_recording: It plays the recording at its own speed and pitch: `heard` is
            `same`.
        kind: How the sound of its music id was made.
        speed: Tempo ratio to the recording.
        semitones: Pitch shift.
        mix: Level of a voice over the music in dB, None without a voice.
        carried_s: Seconds of the recording that are heard.
        is_public: A guest can open it.
        is_silent: Its media file is the silent placeholder, though it names the music id.
        is_hinted: Its caption names the title.
        in_music_list: It is within the visible part of its music id's list.
        in_author_screen: It is on its author's first screen.
        create_time: Unix seconds; the video's id holds the same.
        sound_born_at: Unix seconds at which its music id was made, which the id holds.
        sound_source: The video that its sound was born with; None for a published song.
        digg_count: Likes at the world's time; the other three counts likewise.
        comment_count: Comments.
        collect_count: Bookmarks.
        share_count: Shares.
        state: Its visibility, as a word.
        is_listed: List surfaces show it, whether it can be opened or not.
        round: After how many rounds over confirmed ids a guest finds it, None for never.
            0 = in the list of the requested music id, 1 = on the screens of those authors, …
            An id is confirmed when some public video under it carries the recording. Where screens
            of authors cannot be read, the list of the hashtag with the title takes their place.
    """

    aweme_id: str
    music_id: str
    sec_uid: str
    relation: Relation
    sound: PlayedSound
    heard: Relation
    carries_recording: bool
    kind: str
    speed: float
    semitones: float
    mix: float | None
    carried_s: float
    is_public: bool
    is_silent: bool
    is_hinted: bool
    in_music_list: bool
    in_author_screen: bool
    create_time: int
    sound_born_at: int
    sound_source: str | None
    digg_count: int
    comment_count: int
    collect_count: int
    share_count: int
    state: str
    is_listed: bool
    round: int | None

    @property
    def is_wanted(self) -> bool:
        """True if a complete result contains it: public, and the recording at normal speed."""
        return self.is_public and self.carries_recording

    def to_document(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)


_SOUNDS: dict[Alteration, PlayedSound] = {
    Alteration.NONE: "as_named",
    Alteration.MUTED: "muted",
    Alteration.REPLACED: "replaced",
    Alteration.LIVE: "live",
    Alteration.VOICED_OVER: "voiced_over",
}
"""What a video plays, as a word, unless it is silent."""


def relation_of(world: SandboxWorld, sound: SandboxSound, asked: SandboxSound) -> Relation:
    """Return the relation of a sound to the composition that another one plays."""
    if sound.index == asked.index:
        return "same"
    if asked.score < 0 or sound.score < 0:
        return "none"
    if sound.score == asked.score:
        return _relation_of_kinds(sound, asked)
    titles = world.population.title_score
    return "other_same_title" if titles[sound.score] == titles[asked.score] else "none"


def _relation_of_kinds(sound: SandboxSound, asked: SandboxSound) -> Relation:
    if sound.kind > LAST_VARIANT or asked.kind > LAST_VARIANT:
        return "cover"
    is_as_asked = sound.speed == asked.speed and sound.semitones == asked.semitones
    both_carry = sound.kind <= LAST_CARRYING and asked.kind <= LAST_CARRYING
    return "same" if is_as_asked or both_carry else "variant"


class GroundTruth:
    """Ground truth of one music id.

    Args:
        world: The world.
        music_id: The music id.
        view: What guests can page through; all of it by default.

    Raises:
        KeyError: No sound has this id.
    """

    def __init__(
        self, world: SandboxWorld, music_id: str, *, view: GuestView | None = None
    ) -> None:
        asked = world.sound_of(music_id)
        if asked is None:
            raise KeyError(music_id)
        self.world = world
        self.view = GuestView(world=world) if view is None else view
        self.asked = asked
        self.relations = self._relations()
        self.heard = self._heard()
        self.rounds = self._rounds()
        self._listed = cache(lambda sound: set(self.view.music_list(sound).tolist()))
        self._shown = cache(lambda account: set(self.view.first_screen(account).tolist()))

    def works(self, *, everything: bool = False) -> list[VideoTruth]:
        """Return videos related to the music id, including hidden ones.

        `everything` adds unrelated ones.
        """
        rows = range(len(self.world.works)) if everything else sorted(self.heard)
        return [self._work(row) for row in rows]

    def wanted(self) -> set[str]:
        """Return the ids of all public videos that play the recording at normal speed."""
        return {str(self.world.works.aweme_id[row]) for row in self.wanted_rows()}

    def reachable(self) -> set[str]:
        """Return the ids of the wanted videos that a guest can reach through confirmed ids."""
        return {str(self.world.works.aweme_id[row]) for row in self.reachable_round_by_row()}

    def counts(self) -> dict[str, int]:
        """Return counts of public videos per relation as played.

        With them: how many of `same` are reachable, how many music ids promise `same` falsely, and
        how many related videos are hidden.
        """
        state = self.world.works.state
        public = [row for row in self.heard if state[row] == VideoState.PUBLIC]
        per_relation = {
            str(name): sum(self.heard[row] == name for row in public) for name in _RELATED
        }
        promised = sum(
            self._promised(row) == "same" and self.heard[row] != "same" for row in public
        )
        return {
            **per_relation, "reachable": len(self.reachable_round_by_row()), "misnamed": promised,
            "not_public": len(self.heard) - len(public),
        }  # fmt: skip

    def wanted_rows(self) -> list[int]:
        """Return the rows of all public videos that play the recording at normal speed."""
        state = self.world.works.state
        return [
            row for row, relation in sorted(self.heard.items())
            if relation == "same" and state[row] == VideoState.PUBLIC
        ]  # fmt: skip

    def reachable_round_by_row(self) -> dict[int, int]:
        """Return the rows of the wanted videos that a guest can reach, with their round."""
        return {row: step for row, step in self.rounds.items() if self.heard[row] == "same"}

    def _promised(self, row: int) -> Relation:
        return self.relations.get(int(self.world.works.sound[row]), "none")

    def _heard(self) -> dict[int, Relation]:
        """Return the relation of what each related video plays, by row."""
        table, score = self.world.works, self.asked.score
        heard: dict[int, Relation] = {}
        sounds = [row for row, relation in self.relations.items() if relation != "none"]
        related = np.isin(table.sound, np.asarray(sounds, dtype=np.int64))
        laid_over = (table.replacement == score) & (score >= 0)
        differs = (table.alteration != Alteration.NONE) | table.is_silent
        for row in map(int, np.flatnonzero(related | laid_over)):
            heard[row] = self._as_heard(row) if differs[row] else self._promised(row)
        return heard

    def _as_heard(self, row: int) -> Relation:
        work = self.world.works.row(row)
        sound = self.world.sounds.row(work.sound)
        return relation_of(self.world, played_sound(work, sound), self.asked)

    def _relations(self) -> dict[int, Relation]:
        """Return the relation per row of the table of sounds, without unrelated rows."""
        table, world = self.world.sounds, self.world
        titles = np.append(world.population.title_score, -2)  # the last one means "no music"
        near = titles[table.score] == titles[self.asked.score]
        near[self.asked.index] = True
        return {
            int(index): relation_of(world, table.row(int(index)), self.asked)
            for index in np.flatnonzero(near)
        }

    def _rounds(self) -> dict[int, int]:
        """Return the round in which each video under a confirmed id is found first, by row."""
        found: dict[int, int] = {}
        confirmed = self._confirmed_sounds()
        sounds, authors = {self.asked.index}, set[int]()
        fresh_sounds, step = {self.asked.index}, 0
        while fresh_sounds:
            listed = [row for index in fresh_sounds for row in self.view.music_list(index)]
            fresh_authors = self._meet(listed, found, step, confirmed) - authors
            authors |= fresh_authors
            shown = [row for author in fresh_authors for row in self.view.first_screen(author)]
            self._meet([*shown, *self._titled(found)], found, step + 1, confirmed)
            heard = {int(self.world.works.sound[row]) for row in found}
            fresh_sounds = heard - sounds
            sounds |= heard
            step += 2
        return found

    def _titled(self, found: Iterable[int]) -> list[np.int64]:
        """Return the list of the hashtag with the title, where it is the way past the own list.

        It needs a video with this hashtag, whose id nothing else names.
        """
        tagged = self.view.title_list(self.asked.score)
        is_way = not self.view.has_author_screens and not set(found).isdisjoint(tagged.tolist())
        return list(tagged) if is_way else []

    def _confirmed_sounds(self) -> set[int]:
        """Return the rows of the sounds that a perfect matcher confirms.

        These are the requested one, and those with the recording in some public video.
        """
        sounds = self.world.works.sound
        carrying = {int(sounds[row]) for row in self.wanted_rows()}
        promised = {row for row, relation in self.relations.items() if relation == "same"}
        return {self.asked.index} | (carrying & promised)

    def _meet(
        self, rows: list[np.int64], found: dict[int, int], step: int, confirmed: set[int]
    ) -> set[int]:
        """Record the videos under confirmed ids among rows, and return their authors."""
        works, authors = self.world.works, set()
        for row in map(int, rows):
            is_same = int(works.sound[row]) in confirmed
            if is_same and works.state[row] == VideoState.PUBLIC:
                found.setdefault(row, step)
                authors.add(int(works.account[row]))
        return authors

    def _work(self, row: int) -> VideoTruth:
        world = self.world
        work = world.works.row(row)
        sound = world.sounds.row(work.sound)
        titles = world.population.title_score
        hinted = work.named_score >= 0 and self.asked.score >= 0
        source = world.source_video(sound.index)
        return VideoTruth(
            aweme_id=work.aweme_id, music_id=sound.music_id, sec_uid=world.sec_uid(work.account),
            relation=self.relations.get(sound.index, "none"),
            sound="silent" if work.is_silent else _SOUNDS[work.alteration],
            heard=self.heard.get(row, "none"), carries_recording=self.heard.get(row) == "same",
            kind=sound.kind.name.lower(),
            speed=sound.speed, semitones=sound.semitones, mix=sound.voice_db,
            carried_s=sound.carried_s, is_public=work.is_public,
            is_silent=work.is_silent,
            is_hinted=bool(hinted and titles[work.named_score] == titles[self.asked.score]),
            in_music_list=row in self._listed(sound.index),
            in_author_screen=row in self._shown(work.account),
            create_time=work.create_time, sound_born_at=int(sound.music_id) >> 32,
            sound_source=None if source is None else str(world.works.aweme_id[source]),
            **work.counts, state=work.state.name.lower(), is_listed=work.is_listed,
            round=self.rounds.get(row),
        )  # fmt: skip
