"""What is true: which works carry a composition, and how a guest could come upon them.

What belongs here: labels from the world's own plan, never from listening. A product's result is
compared with this to give precision and recall.
"""

from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from pipelines.world.sounds import (
    LAST_CARRYING,
    LAST_VARIANT,
    Relation,
    Sound,
)
from pipelines.world.streams import Ints
from pipelines.world.works import State
from pipelines.world.world import World

_RELATED: tuple[Relation, ...] = ("same", "variant", "cover", "other_same_title")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTruth:
    """One work, seen from one music id.

    Attributes:
        aweme_id: The work.
        music_id: The music id that it uses.
        sec_uid: Its author.
        relation: `same` = the recording at its own speed and pitch, whatever is laid over it;
            `variant` = the recording at another speed, tempo or pitch.
        kind: How its sound came to be.
        speed: Tempo ratio to the recording.
        semitones: Pitch shift.
        mix: Level of a voice over the music in dB, None without a voice.
        carried_s: Seconds of the recording that are heard.
        is_public: A guest can open it.
        is_silent: Its media file is the silent placeholder, though it names the music id.
        is_hinted: Its caption names the title.
        in_music_list: It is within the visible part of its music id's list.
        in_author_screen: It is on its author's first screen.
        create_time: Unix seconds.
        digg_count: Likes at the world's moment; the other three counts likewise.
        comment_count: Comments.
        collect_count: Bookmarks.
        share_count: Shares.
        state: Who may see it, as a word.
        is_listed: List surfaces name it, whether it can be opened or not.
        round: After how many rounds over confirmed ids a guest finds it, None for never.
            0 = in the list of the music id asked about, 1 = on the screens of those authors, …
    """

    aweme_id: str
    music_id: str
    sec_uid: str
    relation: Relation
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
    digg_count: int
    comment_count: int
    collect_count: int
    share_count: int
    state: str
    is_listed: bool
    round: int | None

    @property
    def is_wanted(self) -> bool:
        """True when a complete result holds it: public, and the recording at normal speed."""
        return self.is_public and self.relation == "same"

    def to_document(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)


def relation_of(world: World, sound: Sound, asked: Sound) -> Relation:
    """How a sound relates to the composition of another one, as that is heard."""
    if sound.index == asked.index:
        return "same"
    if asked.score < 0 or sound.score < 0:
        return "none"
    if sound.score == asked.score:
        return _relation_of_kinds(sound, asked)
    titles = world.population.title_score
    return "other_same_title" if titles[sound.score] == titles[asked.score] else "none"


def _relation_of_kinds(sound: Sound, asked: Sound) -> Relation:
    if sound.kind > LAST_VARIANT or asked.kind > LAST_VARIANT:
        return "cover"
    is_as_asked = sound.speed == asked.speed and sound.semitones == asked.semitones
    both_carry = sound.kind <= LAST_CARRYING and asked.kind <= LAST_CARRYING
    return "same" if is_as_asked or both_carry else "variant"


class Truth:
    """Everything that is true about one music id.

    Args:
        world: The world.
        music_id: The id asked about.

    Raises:
        KeyError: No sound has this id.
    """

    def __init__(self, world: World, music_id: str) -> None:
        asked = world.sound_of(music_id)
        if asked is None:
            raise KeyError(music_id)
        self.world = world
        self.asked = asked
        self.relations = self._relations()
        self.rounds = self._rounds()
        self._listed = cache(lambda sound: set(world.music_list(sound).tolist()))
        self._shown = cache(lambda account: set(world.first_screen(account).tolist()))

    def works(self, *, everything: bool = False) -> list[WorkTruth]:
        """Works that have to do with the music id, hidden ones included; `everything` adds the
        unrelated ones.
        """
        table = self.world.works
        related = np.isin(table.sound, self._sounds(*_RELATED))
        rows = np.arange(len(table)) if everything else np.flatnonzero(related)
        return [self._work(int(row)) for row in rows]

    def wanted(self) -> set[str]:
        """Ids of all public works at normal speed."""
        return {str(self.world.works.aweme_id[row]) for row in self.wanted_rows()}

    def reachable(self) -> set[str]:
        """Those of the wanted works that a guest can come upon through confirmed ids."""
        return {str(self.world.works.aweme_id[row]) for row in self.rounds}

    def counts(self) -> dict[str, int]:
        """Public works per relation, how many are reachable, and related works not public."""
        table = self.world.works
        public = table.state == State.PUBLIC
        related = np.isin(table.sound, self._sounds(*_RELATED))
        per_relation: dict[str, int] = {
            name: int((np.isin(table.sound, self._sounds(name)) & public).sum())
            for name in _RELATED
        }
        hidden = int((related & ~public).sum())
        return {**per_relation, "reachable": len(self.rounds), "not_public": hidden}

    def wanted_rows(self) -> list[int]:
        """Rows of all public works at normal speed."""
        table = self.world.works
        is_same = np.isin(table.sound, self._sounds("same"))
        return [int(row) for row in np.flatnonzero(is_same & (table.state == State.PUBLIC))]

    def _sounds(self, *relations: Relation) -> Ints:
        rows = [index for index, relation in self.relations.items() if relation in relations]
        return np.asarray(rows, dtype=np.int64)

    def _relations(self) -> dict[int, Relation]:
        """Relation per row of the table of sounds; rows that have nothing to do with it missing."""
        table, world = self.world.sounds, self.world
        titles = np.append(world.population.title_score, -2)  # the last stands for "no music"
        near = titles[table.score] == titles[self.asked.score]
        near[self.asked.index] = True
        return {
            int(index): relation_of(world, table.row(int(index)), self.asked)
            for index in np.flatnonzero(near)
        }

    def _rounds(self) -> dict[int, int]:
        """In which round each wanted work is met first, by row."""
        found: dict[int, int] = {}
        sounds, authors = {self.asked.index}, set[int]()
        fresh_sounds, step = {self.asked.index}, 0
        while fresh_sounds:
            listed = [row for index in fresh_sounds for row in self.world.music_list(index)]
            fresh_authors = self._meet(listed, found, step) - authors
            authors |= fresh_authors
            shown = [row for author in fresh_authors for row in self.world.first_screen(author)]
            self._meet(shown, found, step + 1)
            heard = {int(self.world.works.sound[row]) for row in found}
            fresh_sounds = heard - sounds
            sounds |= heard
            step += 2
        return found

    def _meet(self, rows: list[np.int64], found: dict[int, int], step: int) -> set[int]:
        """Note the wanted works among rows; gives their authors."""
        works, authors = self.world.works, set()
        for row in map(int, rows):
            is_same = self.relations.get(int(works.sound[row])) == "same"
            if is_same and works.state[row] == State.PUBLIC:
                found.setdefault(row, step)
                authors.add(int(works.account[row]))
        return authors

    def _work(self, row: int) -> WorkTruth:
        world = self.world
        work = world.works.row(row)
        sound = world.sounds.row(work.sound)
        titles = world.population.title_score
        hinted = work.named_score >= 0 and self.asked.score >= 0
        return WorkTruth(
            aweme_id=work.aweme_id, music_id=sound.music_id, sec_uid=world.sec_uid(work.account),
            relation=self.relations.get(sound.index, "none"), kind=sound.kind.name.lower(),
            speed=sound.speed, semitones=sound.semitones, mix=sound.voice_db,
            carried_s=sound.carried_s, is_public=work.state is State.PUBLIC,
            is_silent=work.is_silent,
            is_hinted=bool(hinted and titles[work.named_score] == titles[self.asked.score]),
            in_music_list=row in self._listed(sound.index),
            in_author_screen=row in self._shown(work.account),
            create_time=work.create_time, digg_count=work.digg_count,
            comment_count=work.comment_count, collect_count=work.collect_count,
            share_count=work.share_count, state=work.state.name.lower(),
            is_listed=work.is_listed,
            round=self.rounds.get(row),
        )  # fmt: skip
