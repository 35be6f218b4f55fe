"""The rate limit and compression as a client meets them."""

import gzip
from typing import Any

from tests.api.server.moved_time import MovedTime, request_time

__all__ = ["request_time"]

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"


def test_too_many_requests_are_told_when_to_come_again(
    service: Any, request_time: MovedTime
) -> None:
    client = service.client(rate_limit_per_s=0.5, rate_limit_burst=2)
    answers = [client.get(f"{JOBS}/none") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [404, 404, 429]
    assert answers[2].headers["retry-after"] == "4"
    assert answers[2].json()["data"]["error"]["type"] == "local_rate_limit"
    assert answers[2].json()["message_zh"] == "请求过于频繁"
    assert client.get("/healthz").status_code == 200
    request_time.now += 4.1
    assert [client.get(f"{JOBS}/none").status_code for _ in range(3)] == [404, 404, 429]


def test_guessing_tokens_is_slow(service: Any) -> None:
    client = service.client(own_api_token="right", rate_limit_per_s=0.5, rate_limit_burst=3)
    guesses = [
        client.get(f"{JOBS}/none", headers={"x-api-key": str(number)}).status_code
        for number in range(5)
    ]
    assert guesses == [401, 401, 401, 429, 429]


def test_a_long_answer_travels_compressed_and_reads_the_same(service: Any) -> None:
    job_id = service.stored().job_id
    client = service.client()
    plain = client.get(f"{JOBS}/{job_id}", headers={"accept-encoding": "identity"})
    packed = client.get(f"{JOBS}/{job_id}", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["etag"] == plain.headers["etag"]
    assert packed.json()["data"] == plain.json()["data"]
    assert int(packed.headers["content-length"]) < len(gzip.compress(plain.content)) * 2
    assert {plain.headers["vary"], packed.headers["vary"]} == {"Accept-Encoding"}
