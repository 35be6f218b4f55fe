"""The colours of the console and the reports differ for every reader, and in grey print."""

import math
from itertools import combinations, pairwise

import pytest

from pipelines.documents.palette import LIGHT, SERIES, SERIES_NAMES, THEMES, ThemeName

LEAST_STEP = 9.0
"""Difference in lightness (CIE L*) that neighbouring areas of grey print need."""
LEAST_DISTANCE = 20.0
"""Distance in CIELAB at which two colours are clearly different."""
SIGHTS = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""How linear colours reach readers (Machado, Oliveira and Fernandes 2009, severity 1)."""
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.0888)

type Triple = tuple[float, float, float]


def times(matrix: tuple[Triple, Triple, Triple], vector: Triple) -> Triple:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def to_linear(colour: str) -> Triple:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return red, green, blue


def to_lab(linear: Triple) -> Triple:
    red, green, blue = (min(1.0, max(0.0, channel)) for channel in linear)
    scaled = (
        value / white for value, white in zip(times(TO_XYZ, (red, green, blue)), WHITE, strict=True)
    )
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(colour: str, other: str) -> float:
    high, low = sorted((times(TO_XYZ, to_linear(one))[1] for one in (colour, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_series_differ_in_grey_print() -> None:
    steps = sorted(to_lab(to_linear(colour))[0] for colour in SERIES)
    assert min(after - before for before, after in pairwise(steps)) >= LEAST_STEP


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_series_differ_for_readers_who_see_fewer_colours(sight: str, theme: ThemeName) -> None:
    series = [THEMES[theme][name] for name in SERIES_NAMES]
    found = {one: to_lab(times(SIGHTS[sight], to_linear(one))) for one in series}
    near = {
        (one, other): math.dist(found[one], found[other]) for one, other in combinations(series, 2)
    }
    assert {pair: distance for pair, distance in near.items() if distance < LEAST_DISTANCE} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_texts_and_series_are_readable_on_their_grounds(theme: ThemeName) -> None:
    colours = THEMES[theme]
    for ground in ("card", "sunk", "page"):
        for name in ("ink", "soft", "accent", "warn"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in SERIES_NAMES:
        assert contrast(colours[name], colours["card"]) >= 3, name


def test_the_themes_have_the_same_colours() -> None:
    assert set(THEMES["light"]) == set(THEMES["dark"])


def test_emphasised_bars_differ_from_muted_ones_in_grey() -> None:
    first, muted = (to_lab(to_linear(one))[0] for one in (SERIES[0], LIGHT["muted"]))
    assert muted - first >= 40
