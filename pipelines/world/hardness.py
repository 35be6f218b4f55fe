"""How hard a world is, measured; a world easier than its floors is refused."""

from dataclasses import asdict, dataclass

from pipelines.world.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardness:
    """Shares of what makes a world hard."""

    carrying: int

    def to_document(self) -> dict[str, object]:
        """Plain JSON values."""
        return asdict(self)


def hardness(world: World) -> Hardness:
    """Measure a world."""
    return Hardness(carrying=len(world.works))
