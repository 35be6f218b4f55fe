"""`sametrack parse` prints the records of a body, or the refusal that it is."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands import parse as command
from pipelines.platform.reparse import SURFACES
from tests.platform.shape_answers import SHAPES

REPORTED = SHAPES / "reported"
CASES = tomllib.loads((REPORTED / "cases.toml").read_text(encoding="utf-8"))["case"]
VIDEO = "7600000000000000011"


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROFILE", raising=False)


def run(*words: str, stdin: bytes | None = None) -> Result:
    app = typer.Typer()
    app.command()(command.parse)
    return CliRunner().invoke(app, list(words), input=stdin, catch_exceptions=False)


def parsed(case: dict[str, Any], *, stdin: bool = False) -> dict[str, Any]:
    path = REPORTED / case["file"]
    shown = run(
        "-" if stdin else str(path), "--surface", case["surface"], "--entity", case["entity"],
        "--status", str(case["status"]), "--json", stdin=path.read_bytes() if stdin else None,
    )  # fmt: skip
    assert shown.exit_code == 0
    document: dict[str, Any] = json.loads(shown.stdout)
    return document


def at(document: Any, path: str) -> Any:
    for key in path.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_a_reported_body_gives_the_expected_values(case: dict[str, Any]) -> None:
    document = parsed(case)
    expected = case["expected"]
    assert {path: at(document, path) for path in expected} == expected


def test_every_reported_body_has_a_case() -> None:
    files = {path.name for path in REPORTED.iterdir() if path.suffix != ".toml"}
    assert {case["file"] for case in CASES} == files


def test_stdin_gives_the_same_as_a_file() -> None:
    case = next(case for case in CASES if case["file"] == "desktop_page_videoDetail.html")
    from_file, from_stdin = parsed(case), parsed(case, stdin=True)
    for document in (from_file, from_stdin):
        document["record"].pop("observed_at")
    assert from_file == from_stdin


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_without_json_the_outcome_and_the_values_are_readable(case: dict[str, Any]) -> None:
    shown = run(
        str(REPORTED / case["file"]), "--surface", case["surface"], "--entity", case["entity"],
        "--status", str(case["status"]),
    )  # fmt: skip
    assert shown.exit_code == 0
    assert case["expected"]["outcome"] in shown.stdout
    assert case["surface"] in shown.stdout


def test_an_unknown_surface_is_refused_with_the_names_of_all() -> None:
    shown = run(str(REPORTED / "status_2053.json"), "--surface", "nothing", "--entity", VIDEO)
    assert shown.exit_code == 2
    words = " ".join(shown.stderr.split())
    assert "unknown surface: nothing" in words
    assert all(name in words for name in SURFACES)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"\x1f\x8b\x08\x00", "is gzip, not a text"),
        (b"{}\0", "is binary, not a text"),
        (b" " * (4 * 1024 * 1024 + 1), "has more than 4,194,304 bytes"),
    ],
    ids=["packed", "binary", "huge"],
)
def test_a_file_that_is_no_body_is_refused_by_name(
    tmp_path: Path, body: bytes, detail: str
) -> None:
    file = tmp_path / "body"
    file.write_bytes(body)
    for source, stdin in ((str(file), None), ("-", body)):
        shown = run(source, "--surface", "web_detail", "--entity", VIDEO, stdin=stdin)
        assert shown.exit_code == 2
        assert detail in " ".join(shown.stderr.split())


@pytest.mark.parametrize("surface", sorted(SURFACES))
@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b"1", b'{"layout":"described-buttons"}', b"<html></html>", b"\xff",
     b'{"status_code":0,"a":NaN}', b'{"a":' * 2_000, b'{"status_code":-1}'],
)  # fmt: skip
def test_a_body_without_records_is_a_named_refusal_on_every_surface(
    surface: str, body: bytes
) -> None:
    shown = run("-", "--surface", surface, "--entity", VIDEO, "--json", stdin=body)
    assert shown.exit_code == 0
    document = json.loads(shown.stdout)
    if document["outcome"] == "records":  # a stream that was cut in its first document
        assert document["record"]["is_cut"]
    else:
        assert document["refusal"]["name"]
        assert document["refusal"]["policy"]


def test_the_mark_of_an_encoding_is_no_part_of_a_body() -> None:
    body = b'\xef\xbb\xbf{"status_code":2053}'
    shown = run("-", "--surface", "web_detail", "--entity", VIDEO, "--json", stdin=body)
    assert json.loads(shown.stdout)["outcome"] == "unavailable"


@pytest.mark.parametrize("surface", ["web_detail", "music_list"])
def test_half_a_character_is_printed_as_a_replacement(surface: str) -> None:
    item = {
        "aweme_id": VIDEO, "desc": "a\ud83d", "create_time": 1_769_683_575, "statistics": {},
        "author": {"sec_uid": "MS4wLjABAAAAexample"}, "music": {},
    }  # fmt: skip
    body = {"aweme_detail": item, "aweme_list": [item], "has_more": 0, "cursor": 1}
    shown = run(
        "-", "--surface", surface, "--entity", VIDEO, "--json", stdin=json.dumps(body).encode()
    )
    record = json.loads(shown.stdout)["record"]
    video = record if surface == "web_detail" else record["videos"][0]
    assert video["desc"] == "a\ufffd"


@pytest.mark.parametrize(("own", "foreign", "outcome"), [(2, 2, "records"), (1, 2, "refused")])
def test_a_list_with_more_foreign_rows_than_others_is_a_refusal(
    own: int, foreign: int, outcome: str
) -> None:
    rows = [
        {"aweme_id": str(int(VIDEO) + number), "music": {"mid": "5" if number < own else "6"}}
        for number in range(own + foreign)
    ]
    body = json.dumps({"aweme_list": rows, "has_more": 0, "cursor": 1}).encode()
    shown = run("-", "--surface", "music_list", "--entity", "5", "--json", stdin=body)
    document = json.loads(shown.stdout)
    assert document["outcome"] == outcome
    assert (document["refusal"] or {}).get("name") == ("foreign_rows" if foreign > own else None)
    assert len(document["record"]["videos"]) == own


@pytest.mark.parametrize(
    ("body", "filter_reason"),
    [
        ({"aweme_details": [], "filter_list": [{"aweme_id": VIDEO, "reason": 8}]}, "8"),
        ({"filter_list": [{"reason": 8}]}, "8"),
        ({"filter_list": [{"aweme_id": VIDEO, "filter_reason": 10}]}, "10"),
        ({"status_code": 2053, "status_msg": 5}, "status_code 2053"),
        ({"status_code": "-404"}, "status_code -404"),
    ],
)
def test_a_reason_in_another_form_stays_that_of_one_video(
    body: dict[str, object], filter_reason: str
) -> None:
    shown = run(
        "-",
        "--surface",
        "slides_info",
        "--entity",
        VIDEO,
        "--json",
        stdin=json.dumps(body).encode(),
    )
    document = json.loads(shown.stdout)
    assert document["outcome"] == "unavailable"
    assert document["record"]["filter_reason"] == filter_reason


@pytest.mark.parametrize("code", [77, -1, "-1"])
def test_an_unknown_status_is_named_with_its_number(code: object) -> None:
    body = json.dumps({"status_code": code}).encode()
    shown = run("-", "--surface", "user_info", "--entity", VIDEO, "--json", stdin=body)
    refusal = json.loads(shown.stdout)["refusal"]
    assert (refusal["name"], refusal["reason"]) == ("unknown_code", f"status_code {code}")


@pytest.mark.parametrize("rest", [{}, {"aweme_detail": None}])
def test_a_filter_detail_without_a_reason_says_nothing_about_its_surface(
    rest: dict[str, object],
) -> None:
    body = {"status_code": 0, "filter_detail": {"aweme_id": VIDEO, "filter_reason": ""}, **rest}
    shown = run(
        "-", "--surface", "web_detail", "--entity", VIDEO, "--json", stdin=json.dumps(body).encode()
    )
    assert json.loads(shown.stdout)["refusal"]["name"] == "empty_detail"


@pytest.mark.parametrize(
    ("stated", "scheduled_at"),
    [
        ("10:00", "2026-04-21T10:00:00+08:00"),
        ("2026-04-22 09:30", "2026-04-22T09:30:00+08:00"),
        ("2026-04-22T09:30:00", "2026-04-22T09:30:00+08:00"),
        ("2026-04-22", None),
        ("25:00:00", None),
        ("soon", None),
        ("", None),
        (36_000, None),
        (None, None),
    ],
)
def test_the_release_of_an_issue_is_a_time_or_unknown(
    stated: object, scheduled_at: str | None
) -> None:
    issue = {"volid": 5, "voltime": "2026-04-21 08:30:00", "scheduled_release_time": stated}
    body = {"status": 1, "errcode": 0, "data": {"info": [{"year": 2026, "vols": [issue]}]}}
    shown = run(
        "-", "--surface", "chart_issues", "--entity", "8888", "--json",
        stdin=json.dumps(body).encode(),
    )  # fmt: skip
    (read,) = json.loads(shown.stdout)["record"]["issues"]
    assert read["scheduled_at"] == scheduled_at


@pytest.mark.parametrize("failure", [{"status": 0, "errcode": -1}, {"status": -1}])
def test_a_negative_status_of_the_chart_is_a_failure_of_the_chart(
    failure: dict[str, object],
) -> None:
    shown = run(
        "-", "--surface", "chart_songs", "--entity", "8888", "--json",
        stdin=json.dumps(failure).encode(),
    )  # fmt: skip
    assert json.loads(shown.stdout)["refusal"]["type"] == "chart_unavailable"


@pytest.mark.parametrize("file", ["missing.json", "."])
def test_a_file_that_cannot_be_read_is_an_input_error(file: str) -> None:
    shown = run(file, "--surface", "web_detail", "--entity", VIDEO)
    assert shown.exit_code == 2
    assert "cannot be read" in shown.stderr


@pytest.mark.parametrize(
    ("status", "name"), [("429", "rate_limited"), ("503", "unreachable"), ("403", "forbidden")]
)
def test_a_status_is_a_refusal_as_the_client_meets_it(
    tmp_path: Path, status: str, name: str
) -> None:
    file = tmp_path / "body"
    file.write_bytes(b"<html></html>")
    shown = run(
        str(file), "--surface", "web_detail", "--entity", VIDEO, "--status", status, "--json"
    )
    assert json.loads(shown.stdout)["refusal"]["name"] == name
