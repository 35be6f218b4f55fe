"""Pictures are asked for by what they show, never by an address."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.routes.dependencies import Services
from api.server.health import Readiness
from api.services.pictures import PictureService
from api.settings import ApiSettings
from warehouse.caches import PictureFolder

PLACE = "/api/v1/sametrack/pictures"


@pytest.fixture
def visitor(tmp_path: Path) -> Callable[..., Any]:
    files = PictureFolder(folder=tmp_path, max_bytes=10**6, max_count=10)
    files.write("track 7300000000000000001", b"\xff\xd8 a picture \xff\xd9")
    pictures = PictureService(
        files=files, find_url=lambda _kind, _id: None, open_source=lambda: None
    )

    def ask(path: str, *, shows: bool = True) -> Any:
        app = create_app(
            Services(readiness=Readiness({}), pictures=pictures if shows else None),
            settings=ApiSettings(_env_file=None),
        )
        with TestClient(app, base_url="http://127.0.0.1") as client:
            return client.get(f"{PLACE}/{path}")

    return ask


def test_a_stored_picture_is_sent_as_a_file(visitor: Callable[..., Any]) -> None:
    answer = visitor("track/7300000000000000001")
    assert (answer.status_code, answer.content) == (200, b"\xff\xd8 a picture \xff\xd9")
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["cache-control"] == "private, max-age=86400"


@pytest.mark.parametrize("place", ["track/1", "video/7300000000000000001"])
def test_picture_of_an_unknown_entity_is_not_found(visitor: Callable[..., Any], place: str) -> None:
    answer = visitor(place)
    assert answer.status_code == 404
    assert answer.json()["data"]["error"]["type"] == "not_found"


def test_pictures_are_404_if_switched_off(visitor: Callable[..., Any]) -> None:
    assert visitor("track/7300000000000000001", shows=False).status_code == 404


@pytest.mark.parametrize("place", ["song/1", f"track/{'1' * 201}"])
def test_a_wrong_kind_or_id_is_400(visitor: Callable[..., Any], place: str) -> None:
    assert visitor(place).status_code == 400
