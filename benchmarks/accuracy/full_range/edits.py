"""Edits that real recordings meet: uneven time, rooms, channels, ends and corners of the range.

Pure. They are measured on made tracks and on real recordings, with the recall that each must reach.
"""

from collections.abc import Iterable

from benchmarks.accuracy.full_range.cases import Case
from benchmarks.accuracy.sounds.transforms import Step

CLOCK, WOW = "constant clock", "wow and flutter, 0.7 Hz"
RESYNCHRONISED, DRIFT = "resynchronised every second", "slow drift of the speed"
BLOCKS, FRAMES = "20 ms blocks dropped and doubled", "variable frame rate"
PHONE, INVERTED = "phone in a room, clock", "one channel inverted"
DENSE, SPOKEN = "slowed + dense reverb", "pitch or tempo + voice"
ENDS, CORNERS = "ends of the range", "corners of the range"
SHORT, NOISE, DULL = "edited clip, heard for", "noise over music", "low-pass"
SLIGHT = "slight change, Rubber Band"
UNEVEN, USUAL, HARD = 0.95, 0.90, 0.75
GOALS: dict[str, float] = {
    CLOCK: UNEVEN, WOW: UNEVEN, RESYNCHRONISED: UNEVEN, DRIFT: UNEVEN, BLOCKS: USUAL,
    FRAMES: USUAL, PHONE: USUAL, INVERTED: USUAL, DENSE: USUAL, SPOKEN: USUAL, ENDS: USUAL,
    CORNERS: HARD, SHORT: USUAL, NOISE: HARD, DULL: USUAL, SLIGHT: UNEVEN,
}  # fmt: skip
"""Recall that each row must reach; of those in `BEYOND_UNEVEN` the usual one."""
BEYOND_UNEVEN = frozenset({(WOW, "0.4 %"), (RESYNCHRONISED, "5 ms"), (DRIFT, "1.03")})
SUMMED = frozenset({SPOKEN, SLIGHT})
"""Families that are one row; each value of another family is a row."""


def _uneven(family: str, step: str, values: Iterable[float], unit: str) -> list[Case]:
    return [
        Case(
            family=family, label=f"{value:g}{unit}", value=value, steps=((step, value),),
            relation="same",
        )
        for value in values
    ]  # fmt: skip


def _edited(
    family: str, label: str, *steps: Step, tempo: float = 1.0, length_s: float | None = None,
    turn: int = 1,
) -> Case:  # fmt: skip
    return Case(family=family, label=label, steps=steps, tempo=tempo, length_s=length_s, turn=turn)


EDITS: tuple[Case, ...] = (
    *_uneven(CLOCK, "clock", (0.01, 0.05, 0.1), " %"),
    *_uneven(WOW, "wow", (0.1, 0.2, 0.3, 0.4), " %"),
    *_uneven(RESYNCHRONISED, "resynchronised", (0.5, 1, 2, 5), " ms"),
    *_uneven(DRIFT, "drift", (1.01, 1.02, 1.03), ""),
    *_uneven(BLOCKS, "lost blocks", (0.5,), " a second"),
    *_uneven(FRAMES, "variable frames", (0.5,), " %"),
    *_uneven(PHONE, "phone in a room", (0, 0.01, 0.05), " %"),
    Case(family=INVERTED, label="", steps=(("inverted channel", 0),), relation="same",
         work="stereo"),
    _edited(DENSE, "0.8", ("speed", 0.8), ("dense reverb", 3.0), tempo=0.8),
    *(
        _edited(SPOKEN, f"{edit} {value:g}, {level:+g} dB", (edit, value), ("voice", level),
                tempo=value if edit == "tempo" else 1.0, turn=2)
        for edit, value in (("pitch", -3), ("pitch", 3), ("tempo", 1.1))
        for level in (0, 3)
    ),
    *(_edited(ENDS, f"speed {factor:g}", ("speed", factor), tempo=factor) for factor in (0.5, 2.0)),
    *(_edited(ENDS, f"pitch {value:g}", ("pitch", value)) for value in (-9, -7.6)),
    *(
        _edited(CORNERS, f"tempo {tempo:g}, pitch {value:+g}", ("tempo", tempo), ("pitch", value),
                tempo=tempo)
        for tempo, value in ((1.5, 12), (0.66, -9), (0.66, 9))
    ),
    *(
        _edited(SHORT, f"{length:g} s", (edit, value), tempo=tempo,
                length_s=length * tempo, turn=3)
        for length in (4, 5, 6)
        for edit, value, tempo in (("speed", 1.1, 1.1), ("pitch", 2, 1.0), ("tempo", 0.93, 0.93))
    ),
    *_uneven(NOISE, "pink", (-10,), " dB"),
    *_uneven(DULL, "low-pass", (1000,), " Hz"),
    *(
        _edited(SLIGHT, f"tempo {tempo:g}", ("rubberband tempo", tempo), tempo=tempo, turn=2)
        for tempo in (0.99, 0.995, 1.005, 1.01)
    ),
    *(
        _edited(SLIGHT, f"pitch {value:+g}", ("rubberband pitch", value), turn=2)
        for value in (-0.2, -0.1, 0.1, 0.2)
    ),
)  # fmt: skip
