"""A world that is made easy is refused."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sandbox.world.content.tables import LAST_VARIANT, SoundKind
from sandbox.world.hardness import CEILINGS, check_hardness
from sandbox.world.world import SandboxWorld
from warehouse.records.errors import WorldTooEasyError

pytestmark = pytest.mark.full


def _without_covers(world: SandboxWorld) -> None:
    kind = np.where(world.sounds.kind > LAST_VARIANT, SoundKind.SPEECH, world.sounds.kind)
    world.sounds = replace(world.sounds, kind=kind.astype(np.int64))


def _without_variants(world: SandboxWorld) -> None:
    is_variant = np.isin(world.sounds.kind, (SoundKind.SPEED, SoundKind.PITCH, SoundKind.TEMPO))
    kind = np.where(is_variant, SoundKind.SPEECH, world.sounds.kind)
    world.sounds = replace(world.sounds, kind=kind.astype(np.int64))


def _with_honest_captions(world: SandboxWorld) -> None:
    score = world.sounds.score[world.works.sound]
    world.works = replace(world.works, named_score=score)


def _with_everything_public(world: SandboxWorld) -> None:
    world.works = replace(world.works, state=np.zeros_like(world.works.state))


@pytest.mark.parametrize(
    ("ease", "named"),
    [
        (_without_covers, "cover_ratio"),
        (_without_variants, "variant_ratio"),
        (_with_honest_captions, "unhinted_share"),
        (_with_everything_public, "hidden_share"),
    ],
)
def test_an_eased_world_is_refused_by_name(
    ease: Callable[[SandboxWorld], None], named: str
) -> None:
    world = SandboxWorld(5, 0.2)
    ease(world)
    with pytest.raises(WorldTooEasyError, match=named):
        check_hardness(world)


def test_a_world_too_small_for_shares_is_measured_but_not_judged() -> None:
    world = SandboxWorld(5, 0.05, tracks=2)
    _with_everything_public(world)
    assert check_hardness(world).hidden_share == 0.0


def test_a_crowded_world_may_hide_more_but_has_to_be_as_hard() -> None:
    world = SandboxWorld(7, 2.0, tracks=4)
    assert check_hardness(world).unreachable_share > CEILINGS["unreachable_share"]
    _without_covers(world)
    with pytest.raises(WorldTooEasyError, match="cover_ratio"):
        check_hardness(world)
