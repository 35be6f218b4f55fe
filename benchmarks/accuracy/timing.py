"""The timing part: what one clip, one pair and one cold process cost, the others beside it.

Processor time of one thread: the best of five rounds for each clip or pair, because others on a
machine only ever add, and of those the median; of the cold starts, spread over all of it, the best.
All in one run: read the ratios, a shared machine moves all of them together. What belongs here:
stopwatches. Not here: verdicts' worth.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from benchmarks.accuracy import chromaprint, plain_librosa
from benchmarks.accuracy.comparing import LIMITS
from benchmarks.accuracy.hearing import Hearing
from benchmarks.accuracy.sounds.clips import clips_of
from benchmarks.accuracy.sounds.tracks import Track
from benchmarks.speed.running import counted
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.decode.decoding import decode_sound
from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.audio.features.sound_features import Features
from pipelines.audio.features.sounds import MeasuredSound, pack_features, unpack_features
from pipelines.audio.matching.verify import compare_pair, warm_up
from pipelines.audio.matching.versions import version_score

type Document = dict[str, Any]
_CLIPS = 32
_COLD_STARTS = 4  # before each part: a moment in which others are busy must not decide
_ROUNDS = 5  # over all clips or pairs, so that a busy moment spoils one round
_TRACKS = 16
_COVER = "cover sync"
_COMPARED = frozenset({"reference", "clean 64k", _COVER})
_LIMITS = DecodeLimits(max_seconds=21.0)
"""Clips as long as those that the anchors were measured on."""
_SETTLED = 200  # clips after which a listening child has everything loaded


def measure_timing(tracks: list[Track], hearing: Hearing, *, heard_clips: int) -> Document:
    """All figures in milliseconds of processor time, unless their name says otherwise."""
    references = [clips_of(track)[0].file for track in tracks]
    files = [hearing.clips / file for file in references[:: max(1, len(references) // _CLIPS)]]
    warm_up()
    with DecoderPool(1, limits=_LIMITS) as pool:
        document: Document = {"clips": len(files), "clip_s": _LIMITS.max_seconds}
        parts: tuple[tuple[str, Callable[[], Document]], ...] = (
            ("clips, as the product listens", lambda: _listening(files, pool)),
            ("pairs", lambda: _pairs(tracks, hearing.clips, pool)),
            ("Chromaprint", lambda: _chromaprint(files)),
            ("plain librosa", lambda: _librosa(files[:12])),
            ("memory", lambda: _memory(files, heard_clips) if heard_clips else {}),
        )
        starts = []
        for what, part in parts:
            print(f"            timing: cold starts, {what}", flush=True)
            starts += [_cold_start(files[0], files[1]) for _ in range(_COLD_STARTS)]
            document |= part()
        walls, processors = zip(*starts, strict=True)
        return document | {"cold_wall_s": min(walls), "cold_cpu_s": min(processors)}


def _listening(files: Sequence[Path], pool: DecoderPool) -> Document:
    """As the product does it: one child, one sound after the other, by the child's own clock.

    In turn with fpcalc, so that both meet the same machine.
    """
    measures: dict[str, Callable[[Path], float]] = {
        "clip_ms": lambda file: _heard(pool, file).cpu_ms,
        "decode_ms": lambda file: _spent(_decode, file),
    }
    if chromaprint.has_fpcalc():
        measures["fpcalc_ms"] = _fpcalc_ms
    return _medians_of_best(files, measures)


def _decode(file: Path) -> object:
    return decode_sound(file, _LIMITS)


def _heard(pool: DecoderPool, file: Path) -> MeasuredSound:
    sound = pool.submit(file).result()
    assert isinstance(sound, MeasuredSound), file
    return sound


def _pairs(tracks: Sequence[Track], clips: Path, pool: DecoderPool) -> Document:
    """Unrelated references against each other; and each against its copy and its cover in sync."""
    known = [{clip.name: clip.file for clip in clips_of(track)} for track in tracks]
    known = [names for names in known if names.keys() >= _COMPARED][:_TRACKS]
    sounds = [{name: _heard(pool, clips / names[name]) for name in _COMPARED} for names in known]
    heard = [names["reference"] for names in sounds]
    unrelated = [(one, two) for one in heard for two in heard if one is not two]
    same, covers = (
        [(names["reference"], names[name]) for names in sounds] for name in ("clean 64k", _COVER)
    )
    # `before` fills the cache of what belongs to one sound: it holds the last few sounds alone
    return {
        "pair_ms": _each(unrelated, _as_heard, before=_as_heard),
        "pair_same_ms": _each(same, _as_heard, before=_as_heard),
        "pair_cover_ms": _each(covers, _as_heard, before=_as_heard),
        "pair_searched_ms": _each(unrelated[::4], _searched, before=_searched),
        "cover_searched_ms": _each(covers, _searched, before=_searched),
        "cold_searched_ms": _median_of_best(unrelated[::4], _searched_cold),
        "version_ms": _each(unrelated, _as_version, before=_as_version),
        "pairs": len(unrelated),
    }


def _as_heard(pair: tuple[MeasuredSound, MeasuredSound]) -> object:
    return compare_pair(*pair, limits=LIMITS, search=False)


def _searched(pair: tuple[MeasuredSound, MeasuredSound]) -> object:
    return compare_pair(*pair, limits=LIMITS)


def _as_version(pair: tuple[MeasuredSound, MeasuredSound]) -> object:
    return version_score(*(sound.features for sound in pair))


def _searched_cold(pair: tuple[MeasuredSound, MeasuredSound]) -> float:
    """A search of sounds as they come from storage, nothing of them known."""
    one, other = (replace(sound, features=_reread(sound)) for sound in pair)
    return _spent(_searched, (one, other))


def _reread(sound: MeasuredSound) -> Features:
    return unpack_features(pack_features(sound.features))


def _chromaprint(files: Sequence[Path]) -> Document:
    if not chromaprint.has_fpcalc():
        return {}
    prints = [chromaprint.fingerprint(file) for file in files[:8]]
    pairs = [(one, two) for one in prints for two in prints]
    return {"chromaprint_pair_ms": _each(pairs, lambda pair: chromaprint.similarity(*pair))}


def _fpcalc_ms(file: Path) -> float:
    before = _children_s()
    chromaprint.fingerprint(file, most_s=round(_LIMITS.max_seconds))
    return 1000 * (_children_s() - before)


def _children_s() -> float:
    """Processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _librosa(files: Sequence[Path]) -> Document:
    plain_librosa.measure_plain(files[0])  # loads and compiles
    clip_ms = _each(files, lambda file: plain_librosa.measure_plain(file, limits=_LIMITS))
    known = [plain_librosa.measure_plain(file) for file in files[:5]]
    pairs = [(one, two) for one in known for two in known if one is not two]
    plain_librosa.compare_plain(*pairs[0])
    pair_ms = _each(pairs, lambda pair: plain_librosa.compare_plain(*pair))
    return {"librosa_clip_ms": clip_ms, "librosa_pair_ms": pair_ms}


def _cold_start(reference: Path, candidate: Path) -> tuple[float, float]:
    """Seconds from a new process to its first verdict: by the wall clock, and of processor time in
    both processes, which a busy machine moves less.
    """
    command = [
        sys.executable, "-m", "api.cli.main", "audio", "compare", "--json",
        "--reference", str(reference), "--candidate", str(candidate),
    ]  # fmt: skip
    began, used = time.monotonic(), _children_s()
    ended = subprocess.run(command, check=True, capture_output=True)
    wall, processor = time.monotonic() - began, _children_s() - used
    assert json.loads(ended.stdout)["verdict"]
    return wall, processor


def _memory(files: Sequence[Path], clips: int) -> Document:
    """Resident memory of one listening child early on and after many clips, in MiB."""
    early = 0.0
    with DecoderPool(1) as pool:
        for number in counted(range(clips), what="listening, for the memory", total=clips):
            pool.submit(files[number % len(files)]).result()
            if number == min(_SETTLED, clips - 1):
                early = _resident_mb(pool)
        return {"memory_clips": clips, "memory_early_mb": early, "memory_mb": _resident_mb(pool)}


def _resident_mb(pool: DecoderPool) -> float:
    [pid] = [child.process.pid for child in pool._children]
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def _each[T](
    things: Sequence[T],
    call: Callable[[T], object],
    *,
    before: Callable[[T], object] = lambda _: None,
) -> float:
    """Median processor time of a call, in milliseconds; what `before` does is not counted."""

    def measured(thing: T) -> float:
        before(thing)
        return _spent(call, thing)

    return _median_of_best(things, measured)


def _median_of_best[T](things: Sequence[T], measured: Callable[[T], float]) -> float:
    return _medians_of_best(things, {"": measured})[""]


def _medians_of_best[T](
    things: Sequence[T], measures: dict[str, Callable[[T], float]]
) -> dict[str, float]:
    """Take all measures of all things in rounds, one measure after the other.

    Of each thing the least counts, and of those the median.
    """
    rounds: dict[str, list[list[float]]] = {name: [] for name in measures}
    for _ in range(_ROUNDS):
        for name, measured in measures.items():
            rounds[name].append([measured(thing) for thing in things])
    return {
        name: statistics.median(min(spent) for spent in zip(*all_rounds, strict=True))
        for name, all_rounds in rounds.items()
    }


def _spent[T](call: Callable[[T], object], thing: T) -> float:
    began = time.process_time()
    call(thing)
    return 1000 * (time.process_time() - began)
