"""One kind of edited clip: what is done to a recording, and how it is counted."""

from dataclasses import dataclass

from benchmarks.accuracy.sounds.clips import Relation
from benchmarks.accuracy.sounds.studio import Work
from benchmarks.accuracy.sounds.transforms import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of clip.

    Attributes:
        family: Its row in the tables.
        label: Its value as shown; `family label` is unique.
        value: Its place on the curve of the family, None where there is no curve.
        steps: What is done to the recording.
        relation: What it is to the reference.
        tempo: By which factor it becomes shorter.
        length_s: How much of the recording it takes, None for a usual clip.
        turn: Every `turn`-th track has it.
    """

    family: str
    label: str
    value: float | None = None
    steps: tuple[Step, ...] = ()
    relation: Relation = "variant"
    tempo: float = 1.0
    length_s: float | None = None
    work: Work = "own"
    turn: int = 1
    kbit_s: int = 64
    suffix: str = ".m4a"

    @property
    def name(self) -> str:
        return f"{self.family} {self.label}".replace("/", "of")
