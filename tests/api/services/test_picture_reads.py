"""Covers and avatars are read within the gate, made small without metadata, and asked for once."""

import asyncio
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from api.responses.errors import NotFoundError
from api.services.pictures import PictureService
from pipelines.platform.http.client import GuestClient
from pipelines.platform.pictures import BOX, MAX_BYTES, PictureSource, shrink
from tests.platform.http.test_http_client import reply
from warehouse.caches import PictureFolder
from warehouse.records.errors import StructureChangedError, SubstitutionError

pytestmark = pytest.mark.full

HOST = "media.vidplat.localhost"
PLACE = "/img/1.png"


def drawn(width: int, height: int, *, form: str = "PNG", **options: Any) -> bytes:
    made = BytesIO()
    Image.new("RGB", (width, height), (200, 40, 40)).save(made, form, **options)
    return made.getvalue()


def folder_of(root: Path, **limits: Any) -> PictureFolder:
    return PictureFolder(folder=root / "pictures", **{"max_bytes": 10**6, "max_count": 9, **limits})


@pytest.fixture
def service(client: GuestClient, tmp_path: Path) -> Callable[..., PictureService]:
    def build(url: str | None = f"http://{HOST}{PLACE}") -> PictureService:
        return PictureService(
            files=folder_of(tmp_path),
            find_url=lambda _kind, _id: url,
            open_source=lambda: PictureSource(client),
        )

    return build


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_picture_becomes_a_small_jpeg_of_the_same_shape(form: str) -> None:
    with Image.open(BytesIO(shrink(drawn(720, 1280, form=form)))) as small:
        assert small.format == "JPEG"
        assert small.width <= BOX[0]
        assert small.height == BOX[1]


def test_shrunk_picture_keeps_no_metadata() -> None:
    secret = Image.Exif()
    secret[0x010E] = "taken at home"
    body = drawn(60, 60, form="JPEG", exif=secret, comment=b"by me")
    assert b"at home" in body
    assert b"at home" not in shrink(body)
    assert b"by me" not in shrink(body)


@pytest.mark.parametrize(
    "body",
    [b"", b"<svg/>", drawn(9, 9, form="GIF"), drawn(9, 9)[:40], drawn(5000, 3000)],
    ids=["nothing", "markup", "another format", "cut off", "too many pixels"],
)
def test_body_that_is_not_a_supported_picture_is_refused(body: bytes) -> None:
    with pytest.raises(StructureChangedError):
        shrink(body)


async def test_many_who_look_at_once_cost_one_request(
    scripted_server: Any, service: Callable[..., PictureService]
) -> None:
    scripted_server.answers[PLACE] = [reply("200 OK", drawn(300, 400))]
    shown = service()
    found = await asyncio.gather(*(shown.read("video", "1") for _ in range(5)))
    assert len(set(found)) == 1
    assert await service().read("video", "1") == found[0]  # another process finds the file
    assert scripted_server.count(PLACE) == 1


async def test_a_picture_that_is_gone_is_asked_for_once(
    scripted_server: Any, service: Callable[..., PictureService]
) -> None:
    scripted_server.answers[PLACE] = [reply("403 Forbidden")]
    for _ in range(2):
        with pytest.raises(NotFoundError):
            await service().read("video", "1")
    assert scripted_server.count(PLACE) == 1


async def test_a_pause_is_no_missing_picture(
    scripted_server: Any, service: Callable[..., PictureService], tmp_path: Path
) -> None:
    scripted_server.answers[PLACE] = [reply("429 Too Many Requests", b"", "Retry-After: 3600")]
    with pytest.raises(NotFoundError):
        await service().read("video", "1")
    assert folder_of(tmp_path).read("video 1") is None  # unknown: the next page asks again


async def test_no_request_leaves_the_picture_hosts(
    scripted_server: Any, client: GuestClient, service: Callable[..., PictureService]
) -> None:
    scripted_server.answers[PLACE] = [
        reply("302 Found", b"", "Location: http://elsewhere.example/1.png")
    ]
    for url in ("http://elsewhere.example/1.png", f"http://{HOST}{PLACE}"):
        with pytest.raises(SubstitutionError):
            await PictureSource(client).fetch(url)
    with pytest.raises(NotFoundError):
        await service(url=None).read("account", "nobody")
    assert len(scripted_server.seen) == 1


async def test_a_picture_has_a_size_limit(scripted_server: Any, client: GuestClient) -> None:
    scripted_server.answers[PLACE] = [reply("200 OK", bytes(MAX_BYTES + 1))]
    with pytest.raises(StructureChangedError, match="larger"):
        await PictureSource(client).fetch(f"http://{HOST}{PLACE}")


def test_the_oldest_pictures_make_room(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, max_bytes=25, max_count=3)
    folder.delete_surplus()  # nothing is there yet
    for number in range(5):
        folder.write(f"video {number}", b"\xff\xd8\0\0\0\xff\xd9")
        path = next(p for p in folder.folder.iterdir() if p.stat().st_mtime > 10_000)
        os.utime(path, (number, number))
    folder.delete_surplus()
    assert [folder.read(f"video {n}") is not None for n in range(5)] == [False] * 2 + [True] * 3
    folder_of(tmp_path, max_bytes=8).delete_surplus()
    assert len(list(folder.folder.iterdir())) == 1


def test_that_there_was_no_picture_is_known_for_an_hour(tmp_path: Path) -> None:
    now = [0.0]
    folder = folder_of(tmp_path, clock=lambda: now[0])
    folder.write("video 1", b"")
    now[0] = next(folder.folder.iterdir()).stat().st_mtime + 60
    assert folder.read("video 1") == b""
    now[0] += 3600
    assert folder.read("video 1") is None
