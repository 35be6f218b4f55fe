"""What people note on a pair is kept beside the evidence and changes no verdict."""

import csv
import io
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.extensions.exports import AnnotationList
from api.services.evidence.annotations import COLUMNS, AnnotationService

PAIR = "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"
PLACE = f"/api/v1/sametrack/comparisons/{PAIR}/annotations"


@pytest.fixture
def heard(service: Any) -> Any:
    service.comparisons[PAIR] = {"comparison_id": PAIR, "score": 0.7, "verdict": "rejected"}
    return service


def test_a_note_is_kept_and_told_with_the_ones_before(heard: Any, client: TestClient) -> None:
    first = client.post(PLACE, json={"verdict": "same", "note": " 就是这首 "})
    assert first.status_code == 200
    client.post(PLACE, json={"verdict": "not_the_same"})
    found = Envelope[AnnotationList].model_validate(client.get(PLACE).json()).data
    assert [(one["verdict"], one["note"], one["origin"]) for one in found["annotations"]] == [
        ("same", "就是这首", "api"),
        ("not_the_same", None, "api"),
    ]
    assert (found["counts"]["same"], found["counts"]["not_the_same"]) == (1, 1)
    assert heard.comparisons[PAIR]["verdict"] == "rejected"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({}, "missing_parameter"),
        ({"verdict": "maybe"}, "invalid_parameter"),
        ({"verdict": "same", "note": "x" * 501}, "invalid_parameter"),
        ({"verdict": "same", "nota": "x"}, "unknown_parameter"),
    ],
)
def test_a_bad_note_is_refused(
    heard: Any, client: TestClient, body: dict[str, Any], kind: str
) -> None:
    answer = client.post(PLACE, json=body)
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (400, kind)
    assert heard.annotations == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_pair_that_is_not_there_takes_no_note(client: TestClient, method: str) -> None:
    answer = client.request(method, PLACE, json={"verdict": "same"} if method == "POST" else None)
    assert answer.status_code == 404


@pytest.mark.parametrize("mark", ["=", "＝"])
def test_the_export_has_label_and_measures_and_the_note_as_it_is(heard: Any, mark: str) -> None:
    annotations = AnnotationService(
        read_comparison=heard.comparisons.get,
        read_annotations=heard.said_of,
        append=lambda _table, rows: heard.annotations.extend(rows),
        is_demo=True,
    )
    annotations.add(PAIR, "same", note=f'{mark}HYPERLINK("x")', origin="cli")
    (line,) = csv.DictReader(io.StringIO(annotations.to_csv()))
    assert tuple(line) == COLUMNS
    assert (line["pair_id"], line["label"], line["score"]) == (PAIR, "same", "0.7")
    assert line["note"] == f'{mark}HYPERLINK("x")'  # for programs; a spreadsheet would get a quote
