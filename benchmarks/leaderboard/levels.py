"""What is done to queries: the three levels of a public benchmark.

The Audio Fingerprinting Benchmark Toolkit by Pex (repository
`Pexeso/audio-fingerprinting-benchmark-toolkit`, MIT licence, 2023) makes a query of at least three
pieces of different recordings; each piece has at most one edit and perhaps noise. A level says
which edits there are, how far they go, how loud noise is and how pieces are joined. The numbers
here are those of the toolkit's documentation and defaults, the code is our own; what differs is
stated in `section.py`. Pure: all draws follow from a generator. Not here: the sound (`making.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.random import Generator

from sandbox.world.random_streams import stream

Edit = Literal["unedited", "high-pass", "low-pass", "pitch", "tempo", "speed", "echo", "reverb"]
Noise = Literal["no noise", "continuous noise", "pulsating noise", "crowd"]
Joint = Literal["end to end", "crossfade", "overlap"]
Form = Literal["clip", "medley"]
"""One piece by itself, or pieces joined as the toolkit does."""

_SLOTS = 15
"""One edit of so many equal chances: those that a level lacks leave the piece unedited."""
_NOISES: tuple[Noise, ...] = ("continuous noise", "pulsating noise", "crowd", "crowd", "crowd")
"""Three recorded noises in the toolkit, a crowd here; half of all pieces have noise."""
_NOISE_STEP_DB, _MOST_SNR_DB = 5, 15
_LEAST_PIECE_S, _MOST_PIECE_S = 4.5, 30.5
_JOINT_S = (2.0, 5.0)
_SHARE_OF_NEGATIVES = 1 / 3
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A level of difficulty.

    Attributes:
        name: Its name.
        edits: What may be done to a piece.
        spread: Standard deviation of the change of tempo and pitch.
        least_snr_db: Loudest noise, as a signal-to-noise ratio.
        joints: How the pieces of a medley may be joined.
    """

    name: str
    edits: tuple[Edit, ...]
    spread: float
    least_snr_db: int
    joints: tuple[Joint, ...]


_EASY_EDITS: tuple[Edit, ...] = ("high-pass", "low-pass", "pitch", "tempo", "speed")
LEVELS = (
    Level(
        name="easy", edits=_EASY_EDITS, spread=0.04, least_snr_db=10, joints=("end to end",)
    ),
    Level(
        name="medium", edits=(*_EASY_EDITS, "echo"), spread=0.12, least_snr_db=5,
        joints=("end to end", "crossfade", "overlap"),
    ),
    Level(
        name="hard", edits=(*_EASY_EDITS, "echo", "reverb"), spread=0.25, least_snr_db=0,
        joints=("end to end", "crossfade", "overlap"),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a recording, and what is done to it.

    Attributes:
        recording: Name of the recording.
        start_s: Where it begins in the recording.
        length_s: How much of the recording it takes.
        edit: What is done to it.
        value: By how much: a factor of tempo or pitch, a cutoff in Hz, a delay in ms.
        noise: What is added to it.
        snr_db: Signal-to-noise ratio.
    """

    recording: str
    start_s: float
    length_s: float
    edit: Edit
    value: float
    noise: Noise
    snr_db: int

    @property
    def tempo(self) -> float:
        """Tempo relative to the recording."""
        return self.value if self.edit in {"tempo", "speed"} else 1.0

    @property
    def heard_s(self) -> float:
        """Length as heard."""
        return self.length_s / self.tempo

    @property
    def labels(self) -> tuple[str, str]:
        """Its rows in the table of edits."""
        noise = self.noise if self.noise == "no noise" else f"noise at {self.snr_db} dB"
        if self.edit not in {"pitch", "tempo", "speed"}:
            return self.edit, noise
        change = max(self.value, 1 / self.value)  # the toolkit calls 7 % small and 21 % medium
        size = "slight" if change <= 1 / 0.93 else "moderate" if change <= 1 / 0.79 else "large"
        return f"{self.edit}, {size} change", noise


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPiece:
    """A piece in a query: where it begins, and how it is joined with the piece before."""

    piece: Piece
    query_s: float = 0.0
    joint: Joint = "end to end"

    def reference_at(self, query_s: float) -> float:
        """Return the time in the recording that is heard at a time of the query."""
        return self.piece.start_s + (query_s - self.query_s) * self.piece.tempo


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query file.

    Attributes:
        name: Its name, without a suffix.
        level: Name of its level.
        form: One piece, or several.
        pieces: Its pieces in the order of time, each of another recording.
        is_negative: Its recordings are not stored, so nothing should be found.
    """

    name: str
    level: str
    form: Form
    pieces: tuple[PlacedPiece, ...]
    is_negative: bool

    @property
    def recordings(self) -> frozenset[str]:
        """Names of its recordings."""
        return frozenset(placed.piece.recording for placed in self.pieces)


def draw_all(
    stored: Mapping[str, float], negative: Mapping[str, float], pieces: int
) -> list[Query]:
    """Draw the queries of all levels: of references, and fewer of other recordings."""
    queries = []
    for number, level in enumerate(LEVELS):
        rng = stream(_SEED, "leaderboard", number)
        queries += draw_queries(level, stored, pieces, rng)
        fewer = round(_SHARE_OF_NEGATIVES * pieces)
        queries += draw_queries(level, negative, fewer, rng, is_negative=True)
    return queries


def draw_queries(
    level: Level,
    durations: Mapping[str, float],
    pieces: int,
    rng: Generator,
    *,
    is_negative: bool = False,
) -> list[Query]:
    """Draw at least so many pieces; each is a clip by itself, and all are joined to medleys.

    Args:
        level: The level.
        durations: Names and lengths in seconds of the recordings; without any there is no query.
        pieces: Number of pieces.
        rng: Draws them.
        is_negative: Whether these recordings are not stored.
    """
    kind = "negative" if is_negative else "stored"
    names = sorted(durations)
    queries: list[Query] = []

    def add(form: Form, placed: Iterable[PlacedPiece]) -> None:
        name = f"{level.name}-{kind}-{form}-{len(queries):04d}"
        queries.append(
            Query(
                name=name, level=level.name, form=form, pieces=tuple(placed),
                is_negative=is_negative,
            )
        )  # fmt: skip

    missing = pieces
    while missing > 0 and names:
        count = min(3 + int(rng.exponential(2.0)), max(3, missing), len(names))
        chosen = [names[row] for row in rng.choice(len(names), size=count, replace=False)]
        group = [_draw_piece(level, name, durations[name], rng) for name in chosen]
        for piece in group:
            add("clip", [PlacedPiece(piece=piece)])
        add("medley", _place(level, group, rng))
        missing -= count
    return queries


def _draw_piece(level: Level, recording: str, duration_s: float, rng: Generator) -> Piece:
    # Neither the beginning nor the end of a recording; long pieces are likelier than short ones.
    margin_s = 2.0 if duration_s < 30 else 6.0
    most_s = min(_MOST_PIECE_S, duration_s - 2 * margin_s)
    length_s = float(np.sqrt(rng.uniform(min(_LEAST_PIECE_S, most_s) ** 2, most_s**2)))
    start_s = float(rng.uniform(margin_s, duration_s - margin_s - length_s))
    slot = int(rng.integers(_SLOTS))
    edit: Edit = level.edits[slot] if slot < len(level.edits) else "unedited"
    noise: Noise = _NOISES[int(rng.integers(len(_NOISES)))] if rng.random() < 0.5 else "no noise"
    steps = range(level.least_snr_db, _MOST_SNR_DB + 1, _NOISE_STEP_DB)
    return Piece(
        recording=recording, start_s=start_s, length_s=length_s, edit=edit,
        value=_draw_value(edit, level, rng), noise=noise,
        snr_db=steps[int(rng.integers(len(steps)))],
    )  # fmt: skip


def _draw_value(edit: Edit, level: Level, rng: Generator) -> float:
    if edit == "high-pass":
        return 100.0 * int(rng.integers(1, 5))
    if edit == "low-pass":
        return 1000.0 * int(rng.integers(3, 11))
    if edit == "echo":
        return 10.0 * int(rng.integers(1, 51))
    if edit in {"pitch", "tempo", "speed"}:
        change = float(rng.normal(0.0, level.spread))
        return 1 + change if change >= 0 else 1 / (1 - change)
    return 0.0


def _place(level: Level, group: list[Piece], rng: Generator) -> list[PlacedPiece]:
    placed = [PlacedPiece(piece=group[0])]
    for before, piece in pairwise(group):
        joint = level.joints[int(rng.integers(len(level.joints)))]
        end_s = placed[-1].query_s + before.heard_s
        shared_s = 0.0
        if joint != "end to end":
            most_s = min(before.heard_s, piece.heard_s) - 0.5
            shared_s = min(float(rng.uniform(*_JOINT_S)), most_s)
        placed.append(PlacedPiece(piece=piece, query_s=end_s - shared_s, joint=joint))
    return placed
