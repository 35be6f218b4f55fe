"""The page and its files as they go over the wire. The page itself needs no token."""

import gzip
import mimetypes
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.routes.extensions.pages import CONSOLE_FOLDERS
from api.routes.extensions.pages import CONSOLE_ROOT as FOLDER
from api.services.exports.tables import TABLES
from pipelines.documents.messages import STOPS

PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
def guarded(service: Any) -> Any:
    return service.client(own_api_token="sesam-42-sesam-42-sesam-42")


@pytest.mark.parametrize("place", ["/", "/console"])
def test_the_page_runs_only_its_own_files(guarded: TestClient, place: str) -> None:
    answer = guarded.get(place)
    policy = answer.headers["content-security-policy"]
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src 'self';" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert re.findall(r"<script(?! type=\"module\" src=)|\son\w+=|https?:", answer.text) == []


def test_every_file_that_the_page_names_is_there(guarded: TestClient) -> None:
    page = guarded.get("/").text
    named = re.findall(r'(?:href|src)="(/console/[^"]+)"', page)
    assert len(named) > 15
    assert {guarded.get(place).status_code for place in named} == {200}


def test_every_import_leads_to_a_file() -> None:
    modules = list(FOLDER.glob("app/**/*.js"))
    assert modules
    for module in modules:
        for target in re.findall(
            r'(?:from|import\()\s*"(\.[^"]+)"', module.read_text(encoding="utf-8")
        ):
            file = module.parent.joinpath(target).resolve()
            assert file.is_file(), (module, target)
            assert file.relative_to(FOLDER).as_posix().startswith(CONSOLE_FOLDERS)


def test_a_file_is_sent_once_and_then_only_asked_about(guarded: TestClient) -> None:
    mimetypes.init()  # Jupyter, which a test before may have loaded, has another type for scripts
    first = guarded.get("/console/app/main.js", headers=PLAIN)
    again = guarded.get(
        "/console/app/main.js", headers={**PLAIN, "If-None-Match": first.headers["etag"]}
    )
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")


def test_a_file_is_compressed_for_who_takes_it(guarded: TestClient) -> None:
    plain = guarded.get("/console/app/main.js", headers=PLAIN)
    with guarded.stream(
        "GET", "/console/app/main.js", headers={"Accept-Encoding": "gzip"}
    ) as answer:
        packed = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain.content
    assert len(packed) < len(plain.content) / 2


def test_a_file_is_not_compressed_for_who_refuses_it(guarded: TestClient) -> None:
    for asked in ("gzip;q=0", "gzip;q=0, identity", "*;q=0", "br"):
        answer = guarded.get("/console/app/main.js", headers={"Accept-Encoding": asked})
        assert "content-encoding" not in answer.headers, asked
        assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "name",
    [
        "../server.py",
        "%2e%2e/server.py",
        "app",
        "nothing.js",
        "vendor/manifest.json",
    ],
)
def test_console_serves_only_its_own_files(guarded: TestClient, name: str) -> None:
    assert guarded.get(f"/console/{name}").status_code == 404


def test_the_console_says_what_the_report_says(guarded: TestClient) -> None:
    reported: dict[str, Any] = guarded.get("/console/words.json").json()
    assert reported["stop"]["exhausted"] == {
        "en": STOPS["exhausted"].en,
        "zh": STOPS["exhausted"].zh,
        "kind": "end",
    }


def test_the_limits_of_the_scan_form_come_with_the_page(guarded: TestClient) -> None:
    limits: dict[str, Any] = guarded.get("/console/words.json").json()["limits"]
    shown = {name: limits["candidate_limit"][name] for name in ("minimum", "maximum", "default")}
    assert shown == {"minimum": 15, "maximum": 2000, "default": 150}
    assert limits["search_candidate_limit"]["meaning_zh"]


def test_the_limits_of_the_watchlist_form_come_with_the_page(guarded: TestClient) -> None:
    limits: dict[str, Any] = guarded.get("/console/words.json").json()["limits"]
    shown = {
        name: tuple(limits[name][key] for key in ("minimum", "maximum", "default"))
        for name in ("velocity", "rank_change", "new_music_id")
    }
    assert shown == {
        "velocity": (0, None, 1000.0),
        "rank_change": (1, 500, 3),
        "new_music_id": (None, None, True),
    }
    assert limits["velocity"]["meaning_zh"] == "作品热度日增量阈值"


def test_the_columns_of_a_saved_table_are_those_of_its_export(guarded: TestClient) -> None:
    reported: dict[str, Any] = guarded.get("/console/words.json").json()["columns"]
    assert reported.keys() == TABLES.keys()
    assert [column["name"] for column in reported["videos"]] == [
        column.name for column in TABLES["videos"][0]
    ]
    [likes] = [column for column in reported["videos"] if column["name"] == "digg_count"]
    assert likes == {"name": "digg_count", "kind": "whole", "path": "statistics.digg_count"}


@pytest.mark.parametrize("place", ["/api/v1/sametrack/storage", "/api/v1/sametrack/series/video/1"])
def test_data_needs_the_token_in_a_header_and_never_in_the_address(
    guarded: TestClient, place: str
) -> None:
    answer = guarded.get(place, params={"token": "sesam-42-sesam-42-sesam-42"})
    assert answer.status_code == 401


def test_the_page_of_demo_data_says_so_before_any_answer_has_come(service: Any) -> None:
    page = service.client().get("/console").text
    assert page.count("<html data-demo lang=") == 1
    service.scan_service = lambda: None  # no platform profile was chosen
    assert "data-demo" not in service.client().get("/console").text
