"""A sound is read again only for what was compared, and only if it is still the same file."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.responses.errors import NotFoundError
from api.services.evidence.excerpts import read_beginning, read_missing_excerpt
from api.services.evidence.service import EvidenceService
from api.services.reads.sources import Deadline
from pipelines.platform.sources.table import SoundFile
from tests.audio.made_sounds import made_mp3
from warehouse.caches import ExcerptFolder
from warehouse.records.evidence import ALGORITHM, MatchThresholds, PairEvidence
from warehouse.records.videos import Unavailability

COMPARISON_ID = "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"
CANDIDATE = "7350000000000000003"
PAIR = PairEvidence(
    verdict="rejected", reason="score_below_threshold", segment="whole", chroma_distance=0.9,
    mfcc_distance=0.8, overlap_s=8.1, reference_start_s=1.2, candidate_start_s=0.1,
    peak_agreement=0.01, score=0.03, speed=1.0, semitones=0.0,
)  # fmt: skip


class Platform:
    """Sources whose only sound has a hash."""

    def __init__(self, folder: Path, sha256: str, *, is_gone: bool = False) -> None:
        self.sounds_dir = folder
        self.sha256 = sha256
        self.is_gone = is_gone
        self.asked: list[str] = []

    @asynccontextmanager
    async def open(
        self, _kind: str, *, sounds_dir: Path, **_options: bool
    ) -> AsyncIterator["Platform"]:
        self._folder = sounds_dir
        yield self

    async def video(self, aweme_id: str) -> Any:
        self.asked.append(aweme_id)
        return Unavailability(reason="status_deleted") if self.is_gone else "a"

    async def song(self, track_id: str) -> Any:
        self.asked.append(f"song {track_id}")
        return "a"

    async def song_sound(self, _song: object) -> SoundFile:
        return await self.sound(_song)

    async def sound(self, _detail: object) -> SoundFile:
        path = self._folder / "sound.m4a"
        path.write_bytes(b"no sound")
        return SoundFile(
            path=path, sha256=self.sha256, size_bytes=8, content_type="audio/mp4", request_count=1
        )


def evidence(tmp_path: Path, *, max_bytes: int = 1_000_000, **changed: Any) -> EvidenceService:
    row = {
        "comparison_id": COMPARISON_ID, "job_id": "job", "track_music_id": "7300000000000000001",
        "reference_aweme_id": "7350000000000000001", "candidate_aweme_id": CANDIDATE,
        "reference_music_id": "7300000000000000001", "candidate_music_id": "7400000000000000003",
        "reference_sha256": "a" * 64, "candidate_sha256": "b" * 64, **asdict(PAIR),
        "limits": orjson.dumps(asdict(MatchThresholds())).decode(), "algorithm": ALGORITHM,
        "feature_version": "1", "library_version": "av 19", **changed,
    }  # fmt: skip
    return EvidenceService(
        read_comparison={COMPARISON_ID: row}.get,
        read_comparisons=lambda _: [row],
        read_captions=lambda _: {},
        read_sounds=lambda _hashes, _version: {},
        excerpts=ExcerptFolder(folder=tmp_path / "kept", max_bytes=max_bytes, max_age_s=3600.0),
        is_demo=True,
    )


async def read(service: EvidenceService, platform: Any, role: Any = "candidate") -> None:
    await read_missing_excerpt(service, platform, COMPARISON_ID, role, deadline=Deadline(30.0))


async def test_a_stored_excerpt_is_not_read_again(tmp_path: Path) -> None:
    service, platform = evidence(tmp_path), Platform(tmp_path, "b" * 64)
    missing = service.missing_excerpt(COMPARISON_ID, "candidate")
    assert missing is not None
    service.store_excerpt(missing.excerpt, made_mp3(b"invented"))
    await read(service, platform)
    assert platform.asked == []


async def test_another_file_of_the_same_video_is_not_passed_off_as_what_was_compared(
    tmp_path: Path,
) -> None:
    service, platform = evidence(tmp_path), Platform(tmp_path, "c" * 64)
    with pytest.raises(NotFoundError, match="another sound"):
        await read(service, platform)
    assert platform.asked == [CANDIDATE]
    assert os.listdir(tmp_path) == []  # noqa: PTH208 -- nothing is left of the download


async def test_a_song_of_the_music_service_is_read_from_its_page_there(tmp_path: Path) -> None:
    service = evidence(tmp_path, reference_source="music_service")
    platform: Any = Platform(tmp_path, "a" * 64)
    platform.one_decoder = asyncio.Semaphore(1)
    with pytest.raises(NotFoundError, match="cannot be decoded"):
        await read(service, platform, "reference")
    assert platform.asked == ["song 7350000000000000001"]


async def test_a_deleted_video_cannot_be_heard(tmp_path: Path) -> None:
    service, platform = evidence(tmp_path), Platform(tmp_path, "b" * 64, is_gone=True)
    with pytest.raises(NotFoundError, match="no longer available"):
        await read(service, platform)


@pytest.mark.parametrize(
    ("role", "changed"),
    [
        ("reference", {"reference_start_s": None}),
        ("candidate", {"candidate_start_s": None}),
        ("candidate", {"candidate_sha256": None}),
        ("candidate", {"max_bytes": 0}),
    ],
)
async def test_excerpt_without_a_readable_sound_is_refused_without_a_request(
    tmp_path: Path, role: str, changed: dict[str, Any]
) -> None:
    service, platform = evidence(tmp_path, **changed), Platform(tmp_path, "b" * 64)
    with pytest.raises(NotFoundError, match="cannot be read again"):
        await read(service, platform, role)
    assert platform.asked == []


async def test_the_beginning_of_a_deleted_video_cannot_be_read(tmp_path: Path) -> None:
    platform: Any = Platform(tmp_path, "b" * 64, is_gone=True)
    with pytest.raises(NotFoundError, match="no longer available"):
        await read_beginning(platform, CANDIDATE, deadline=Deadline(30.0))
    assert platform.asked == [CANDIDATE]


async def test_a_beginning_that_cannot_be_decoded_is_named_and_leaves_no_file(
    tmp_path: Path,
) -> None:
    platform: Any = Platform(tmp_path, "b" * 64)
    platform.one_decoder = asyncio.Semaphore(1)
    with pytest.raises(NotFoundError, match="cannot be decoded"):
        await read_beginning(platform, CANDIDATE, deadline=Deadline(30.0))
    assert os.listdir(tmp_path) == []  # noqa: PTH208 -- nothing is left of the download
