"""Notes and tags are stored beside what they are on, replaced as a whole and deleted when empty."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.extensions.exports import NoteList
from tests.scripted_reads import ReadService
from warehouse.control import notes

PLACE = "/api/v1/sametrack/notes"
TRACK = {"kind": "track", "id": "7300000000000000001"}


@pytest.fixture
def visitor(reads: ReadService) -> TestClient:
    for note in notes.newest(reads.control, limit=100):
        notes.write(reads.control, note.kind, note.entity_id, text=None, tags=())
    return reads.client()


def notes_of(answer: Any) -> list[tuple[str, str, str | None, list[str]]]:
    assert answer.status_code == 200
    found = Envelope[NoteList].model_validate(answer.json()).data["notes"]
    return [(one["kind"], one["id"], one["note"], one["tags"]) for one in found]


def test_the_last_note_counts_and_tags_stand_once(visitor: TestClient) -> None:
    visitor.post(PLACE, json={**TRACK, "note": "first", "tags": ["a"]})
    written = visitor.post(
        PLACE, json={**TRACK, "note": " 问厂牌 ", "tags": ["六月", " 六月 ", "b"]}
    )
    expected = [("track", TRACK["id"], "问厂牌", ["六月", "b"])]
    assert notes_of(written) == expected
    assert notes_of(visitor.get(PLACE)) == expected


def test_an_empty_note_is_deleted(visitor: TestClient) -> None:
    visitor.post(PLACE, json={**TRACK, "tags": ["a"]})
    assert notes_of(visitor.post(PLACE, json={**TRACK, "note": " ", "tags": [" "]})) == []


def test_notes_of_one_kind_are_listed_alone(visitor: TestClient) -> None:
    visitor.post(PLACE, json={**TRACK, "tags": ["a"]})
    visitor.post(PLACE, json={"kind": "pair", "id": "p", "note": "louder"})
    assert [one[0] for one in notes_of(visitor.get(PLACE, params={"kind": "pair"}))] == ["pair"]
    assert len(notes_of(visitor.get(PLACE))) == 2
    assert len(notes_of(visitor.get(PLACE, params={"limit": 1}))) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "song", "id": "1"},
        {"kind": "track"},
        {"kind": "track", "id": ""},
        {**TRACK, "note": "x" * 501},
        {**TRACK, "tags": ["x"] * 21},
        {**TRACK, "tags": ["x" * 41]},
        {**TRACK, "tags": "x"},
        {**TRACK, "label": "x"},
    ],
)
def test_a_bad_note_is_refused(visitor: TestClient, body: dict[str, Any]) -> None:
    assert visitor.post(PLACE, json=body).status_code == 400
    assert notes_of(visitor.get(PLACE)) == []
