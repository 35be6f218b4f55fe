"""Channels for alerts over HTTP: made, tested, deleted; their URLs are never shown again."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope, ErrorData
from api.schemas.extensions.watchlists import (
    AlertChannelDeleted,
    AlertChannelDocument,
    AlertChannelList,
)
from tests.scripted_reads import ReadService
from warehouse.control import watchlists

pytestmark = pytest.mark.full

PATH = "/api/v1/sametrack/alert_channels"
SECRET = "s3cr3t-p4th"
# A port where nothing listens; and by default alerts contact no address inside the machine.
BODY: dict[str, Any] = {
    "name": "team-chat",
    "url": f"json://127.0.0.1:9/{SECRET}",
    "language": "zh",
}


@pytest.fixture
def client(reads: ReadService) -> Iterator[TestClient]:
    yield reads.client()
    for channel in watchlists.read_channels(reads.control):
        watchlists.delete_channel(reads.control, channel.name)


def data(answer: Any, shape: Any) -> Any:
    assert answer.status_code == 200, answer.text
    Envelope[shape].model_validate(answer.json())
    return answer.json()["data"]


def refusal(answer: Any, status: int) -> Any:
    assert answer.status_code == status, answer.text
    Envelope[ErrorData].model_validate(answer.json())
    return answer.json()["data"]["error"]


def test_a_channel_is_made_tested_and_deleted_and_its_url_is_never_shown(
    client: TestClient, reads: ReadService
) -> None:
    answers = [client.post(PATH, json=BODY)]
    made = data(answers[0], AlertChannelDocument)
    assert (made["service"], made["language"], made["test"]) == ("JSON", "zh", None)
    stored = watchlists.get_channel(reads.control, "team-chat")
    assert stored is not None
    assert (stored.url, SECRET in repr(stored)) == (BODY["url"], False)

    answers.append(client.post(f"{PATH}/team-chat/test"))
    tested = data(answers[-1], AlertChannelDocument)
    assert tested["test"]["outcome"] == "special_address"
    answers.append(client.get(PATH))
    listed = data(answers[-1], AlertChannelList)
    assert (listed["channels"], listed["returned_count"]) == ([tested], 1)
    answers.append(client.delete(f"{PATH}/team-chat"))
    assert data(answers[-1], AlertChannelDeleted)["deleted"] is True
    assert data(client.get(PATH), AlertChannelList)["channels"] == []
    for answer in answers:
        assert SECRET not in answer.text


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"name": "Team Chat"}, "name"),
        ({"url": f"nonsense-{SECRET}"}, "url"),
        ({"url": f"json://{SECRET}\x00"}, "url"),
        ({"url": f"json://{SECRET}" + "a" * 2000}, "url"),
        ({"url": [SECRET]}, "url"),
        ({"language": "fr"}, "language"),
    ],
)
def test_an_invalid_channel_is_refused_without_quoting_the_secret(
    client: TestClient, change: dict[str, Any], word: str
) -> None:
    answer = client.post(PATH, json={**BODY, **change})
    assert word in refusal(answer, 400)["detail"]
    assert SECRET not in answer.text
    assert data(client.get(PATH), AlertChannelList)["returned_count"] == 0


def test_the_name_of_a_channel_is_taken_once_and_unknown_ones_are_not_found(
    client: TestClient,
) -> None:
    client.post(PATH, json=BODY)
    assert "team-chat" in refusal(client.post(PATH, json=BODY), 400)["detail"]
    for answer in (client.post(f"{PATH}/nobody/test"), client.delete(f"{PATH}/nobody")):
        assert "team-chat" in refusal(answer, 404)["hint"]
