"""Truth follows the plan, is consistent, and knows what a guest can reach."""

import pytest

from sandbox.world.content.tables import SandboxSound, SoundKind, VideoState
from sandbox.world.ground_truth import GroundTruth, VideoTruth
from sandbox.world.hardness import Hardness, check_hardness, measure_hardness
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

SEEDS = (
    1, 17, 2**31,
    *(pytest.param(one, marks=pytest.mark.soak) for one in (2, 3, 99, 1234, 777_777)),
)  # fmt: skip


@pytest.fixture(scope="module")
def world() -> SandboxWorld:
    return SandboxWorld(8, 1.0)


@pytest.fixture(scope="module")
def works(world: SandboxWorld) -> list[VideoTruth]:
    return GroundTruth(world, world.tracks[2].music_id).works(everything=True)


def test_truth_of_everything_speaks_of_every_work_once(
    world: SandboxWorld, works: list[VideoTruth]
) -> None:
    assert len(works) == len(world.works)
    assert len({work.aweme_id for work in works}) == len(works)


@pytest.mark.parametrize(
    ("kinds", "relation"),
    [
        ({"main", "reupload", "lofi", "voice_over", "medley", "short", "late"}, "same"),
        ({"speed", "pitch", "tempo"}, "variant"),
        ({"cover_sync", "cover_other"}, "cover"),
    ],
)
def test_relations_follow_the_kind_of_sound(
    world: SandboxWorld, works: list[VideoTruth], kinds: set[str], relation: str
) -> None:
    related = [work for work in works if work.relation == relation]
    assert related
    assert {work.kind for work in related} <= kinds
    assert all(_sound(world, work).score == 2 for work in related)


def test_speech_silence_and_strangers_are_unrelated(works: list[VideoTruth]) -> None:
    assert {work.relation for work in works if work.kind in ("speech", "silent")} == {"none"}
    assert sum(work.relation == "none" for work in works) > 0.9 * len(works)


def test_namesakes_are_known_as_such(world: SandboxWorld, works: list[VideoTruth]) -> None:
    namesakes = [work for work in works if work.relation == "other_same_title"]
    assert namesakes
    assert {world.sound_title(_sound(world, work)) for work in namesakes} == {world.title_of(2)}


def _sound(world: SandboxWorld, work: VideoTruth) -> SandboxSound:
    found = world.sound_of(work.music_id)
    assert found is not None
    return found


def test_ground_truth_gives_normal_speed_only_to_the_same_recording(
    works: list[VideoTruth],
) -> None:
    same = [work for work in works if work.relation == "same"]
    variants = [work for work in works if work.relation == "variant"]
    assert {(work.speed, work.semitones) for work in same} == {(1.0, 0.0)}
    assert (1.0, 0.0) not in {(work.speed, work.semitones) for work in variants}
    assert all((work.mix is not None) == (work.kind == "voice_over") for work in same)


def test_wanted_works_are_public_and_reachable_ones_are_wanted(world: SandboxWorld) -> None:
    for sound in world.tracks:
        truth = GroundTruth(world, sound.music_id)
        works = truth.works()
        assert truth.reachable() <= truth.wanted()
        assert truth.wanted() == {work.aweme_id for work in works if work.is_wanted}
        hidden = [work for work in works if not work.is_public]
        assert not {work.aweme_id for work in hidden} & truth.wanted()


def test_rounds_begin_in_the_own_list_and_go_on_by_screens(world: SandboxWorld) -> None:
    asked = world.tracks[0]
    truth = GroundTruth(world, asked.music_id)
    public = [
        row for row in world.music_list(asked.index) if world.works.state[row] == VideoState.PUBLIC
    ]
    assert {row for row, number in truth.rounds.items() if number == 0} == set(map(int, public))
    authors = {int(world.works.account[row]) for row in public}
    shown = {int(row) for author in authors for row in world.first_screen(author)}
    assert {row for row, number in truth.rounds.items() if number == 1} <= shown
    assert max(truth.rounds.values()) >= 2


def test_a_reupload_asked_about_leads_to_the_same_works(world: SandboxWorld) -> None:
    own = GroundTruth(world, world.tracks[0].music_id)
    row = next(
        index
        for index, relation in own.relations.items()
        if relation == "same" and world.sounds.kind[index] == SoundKind.REUPLOAD
    )
    assert GroundTruth(world, world.sounds.row(row).music_id).wanted() == own.wanted()


def test_a_sped_up_sound_asked_about_is_same_only_to_itself(world: SandboxWorld) -> None:
    row = next(
        index for index in range(len(world.sounds)) if world.sounds.kind[index] == SoundKind.SPEED
    )
    truth = GroundTruth(world, world.sounds.row(row).music_id)
    same = [index for index, relation in truth.relations.items() if relation == "same"]
    assert same == [row]
    assert "variant" in truth.relations.values()


def test_speech_asked_about_is_related_to_nothing_else(world: SandboxWorld) -> None:
    row = next(
        index for index in range(len(world.sounds)) if world.sounds.kind[index] == SoundKind.SPEECH
    )
    works = GroundTruth(world, world.sounds.row(row).music_id).works()
    assert {work.music_id for work in works} == {str(world.sounds.music_id[row])}


def test_an_unknown_music_id_has_no_truth(world: SandboxWorld) -> None:
    with pytest.raises(KeyError):
        GroundTruth(world, "7000000000000000001")


@pytest.mark.parametrize("seed", SEEDS)
def test_any_seed_gives_a_hard_and_solvable_small_world(seed: int) -> None:
    measured = check_hardness(SandboxWorld(seed, 0.15))
    assert isinstance(measured, Hardness)
    assert measured.normal_speed_works > 150
    assert measured.nearest_cover > measured.nearest_stranger


@pytest.mark.parametrize("seed", SEEDS)
def test_every_track_of_any_seed_has_its_adversaries(seed: int) -> None:
    world = SandboxWorld(seed, 0.1)
    for sound in world.tracks:
        relations = {work.relation for work in GroundTruth(world, sound.music_id).works()}
        assert relations == {"same", "variant", "cover", "other_same_title"}


def test_the_document_of_a_measurement_names_its_limits(world: SandboxWorld) -> None:
    document = measure_hardness(world).to_document()
    assert {"floors", "ceilings", "cover_ratio", "nearest_cover"} <= set(document)
