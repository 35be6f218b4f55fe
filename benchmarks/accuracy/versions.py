"""`make bench-versions`: do two versions of Python give the same verdicts and numbers?

The tests' band is encoded once; then an environment of each version, made from the lock file,
decodes, measures and judges the same files. Verdicts must be equal, numbers to 1e-6.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

from pipelines.audio.decode.decoding import decode_sound
from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sounds import MeasuredSound, library_version
from pipelines.audio.matching.verify import compare_pair
from tests.data.audio import synthesis as band
from warehouse.records.evidence import MatchThresholds

TOLERANCE = 1e-6
_ROOT = Path(__file__).parents[2]
_UV = str(_ROOT / ".venv-tools" / "bin" / "uv")

type Pairs = Mapping[str, Mapping[str, object]]
"""Evidence by name of the pair."""


def write_sounds(folder: Path) -> None:
    """Twelve files: one song as people change it, a cover, other songs, a shared voice."""
    song, voice = band.track(1), band.speech(5)
    sounds = {
        "song": song,
        "voiced": band.mix(song, voice, other_db=0),
        "noisy": band.mix(song, band.noise(3), other_db=-5),
        "thin": band.equalise(song, low_db=-24, high_db=6),
        "hall": band.reverberated(song, 1.5),
        "short": song[9 * 44_100 : 16 * 44_100],
        "fast": band.resampled(song, 1.1),
        "stretched": band.stretched(song, 0.93),
        "cover": band.track(1, band=61),
        "other": band.track(2),
        "other voiced": band.mix(band.track(2), voice, other_db=0),
        "speech": voice,
    }
    for place, (name, samples) in enumerate(sounds.items()):
        band.write_sound(folder / f"{name}{('.m4a', '.mp3', '.flac')[place % 3]}", samples)


def judge_all(folder: Path) -> dict[str, object]:
    """The evidence of every pair of the files, each both ways, by this very Python."""
    sounds = {path.stem: _heard(path) for path in sorted(folder.iterdir())}
    pairs = [
        pair for one, two in combinations_with_replacement(sounds, 2)
        for pair in ((one, two), (two, one))
    ]  # fmt: skip
    return {
        "versions": f"Python {sys.version.split()[0]}; {library_version()}",
        "pairs": {
            f"{one} / {two}": asdict(
                compare_pair(sounds[one], sounds[two], limits=MatchThresholds())
            )
            for one, two in pairs
        },
    }


def differences(first: Pairs, second: Pairs) -> Iterator[str]:
    """What differs between two results: words at all, numbers by more than 1e-6."""
    for pair in sorted(first.keys() | second.keys()):
        one, two = first.get(pair), second.get(pair)
        if one is None or two is None:
            yield f"{pair}: only one of both judged it"
            continue
        for name in one:
            if not _is_equal(one[name], two[name]):
                yield f"{pair}: {name} {one[name]} and {two[name]}"


def largest_difference(first: Pairs, second: Pairs) -> float:
    """The largest difference between two numbers."""
    return max(
        (
            abs(value - other)
            for pair, evidence in first.items()
            for name, value in evidence.items()
            if isinstance(value, float) and isinstance(other := second[pair][name], float)
        ),
        default=0.0,
    )


def _heard(path: Path) -> MeasuredSound:
    decoded = decode_sound(path, DecodeLimits())
    return MeasuredSound(
        sha256="",
        features=measure_features(decoded.samples, decoded.rate),
        duration_s=len(decoded.samples) / decoded.rate,
        sample_rate_hz=decoded.rate,
        codec=decoded.codec,
        library_version="",
    )


def _is_equal(one: object, two: object) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= TOLERANCE
    return one == two


def _find_python(version: str) -> str:
    """pyenv's, which uv does not look for, else what uv makes of the version."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python"))
    return str(found[-1]) if found else version


def _made_environment(python: str, folder: Path) -> Path:
    """An environment of this Python with the locked packages. Never the project's own."""
    place = folder / "environment"
    subprocess.run([_UV, "venv", "--quiet", "--python", python, str(place)], check=True)
    made, lock = place / "bin" / "python", _ROOT / "requirements.lock"
    options = ["--quiet", "--python", str(made), "--require-hashes"]
    subprocess.run([_UV, "pip", "sync", *options, str(lock)], check=True)
    return made


def _judged_by(python: Path, sounds: Path) -> dict[str, Any]:
    command = [str(python), "-m", "benchmarks.accuracy.versions", "--judge", str(sounds)]
    ended = subprocess.run(command, check=True, cwd=_ROOT, stdout=subprocess.PIPE)
    result: dict[str, Any] = json.loads(ended.stdout)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--with", dest="other", default="3.13", help="a version, or its python")
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        print(json.dumps(judge_all(options.judge)))
        return 0
    with tempfile.TemporaryDirectory(prefix="sametrack-versions-") as name:
        folder = Path(name)
        sounds = folder / "sounds"
        sounds.mkdir()
        print("making twelve sounds", flush=True)
        write_sounds(sounds)
        print("judging them by this Python", flush=True)
        own = _judged_by(Path(sys.executable), sounds)
        print(f"making an environment of Python {options.other}", flush=True)
        other = _made_environment(_find_python(options.other), folder)
        print("judging them by that Python", flush=True)
        results = [own, _judged_by(other, sounds)]
    return _report(*results)


def _report(first: dict[str, Any], second: dict[str, Any]) -> int:
    one, two = first["pairs"], second["pairs"]
    found = list(differences(one, two))
    for result in (first, second):
        print(result["versions"])
    print(f"{len(one)} pairs, largest difference of a number {largest_difference(one, two):.1e}")
    print("\n".join(found) if found else "every verdict and word is equal, every number to 1e-6")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
