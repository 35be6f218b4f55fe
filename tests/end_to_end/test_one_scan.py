"""One real scan from a pasted text to its ranking: stand-in platform, worker, service and command
in processes of their own, over HTTP. Made once; each test looks at another side of it.
"""

import io
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import av
import httpx2
import pytest
from PIL import Image
from pydantic import TypeAdapter
from typer.testing import CliRunner

from api.cli.main import app
from api.cli.processes.child_processes import sametrack_command
from api.responses.documents import Envelope
from api.schemas.result import HotVideosResponse, JobDocument
from tests.deployment import Deployment, open_deployment, wait_for
from tests.shared_deployment import SEED, SIZE
from tests.standards.constant_columns import constant_columns, read_declarations, undeclared
from tests.warehouse.exports.packages import (
    assert_all_numbers_are,
    assert_repeated,
    best_rejected,
    hand_over,
    shown_numbers,
)
from warehouse.lake.reading import open_lake_for_reading

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
HOT = "/api/v1/vidplat/app/v3/fetch_music_hot_videos"
PAIRS = "/api/v1/sametrack/comparisons"
SMALL = {"candidate_limit": 20}
DEMO_MARK = "demo data, generated on this machine"


@dataclass(frozen=True)
class Scanned:
    """A track, the service that was asked for it, and the finished job."""

    deployment: Deployment
    client: httpx2.Client
    track: dict[str, Any]
    answer: httpx2.Response
    document: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document["result"]
        return found

    def said_by(self, *arguments: str) -> str:
        """What a command of the command line says, run in this process."""
        done = CliRunner(env=self.deployment.environment()).invoke(app, list(arguments))
        assert done.exit_code == 0, done.output
        return done.stdout

    def said_by_process(self, *arguments: str) -> str:
        """The same of a process of its own."""
        done = subprocess.run(
            sametrack_command(*arguments),
            env={**os.environ, **self.deployment.environment()},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory, sound_cache: Path) -> Iterator[Scanned]:
    with open_deployment(
        tmp_path_factory.mktemp("scan"), sound_cache, is_measured=True
    ) as deployment:
        deployment.start_worker()
        deployment.start_platform(seed=SEED, size=SIZE)
        client = deployment.start_api()
        track = deployment.world("/_world/tracks")["tracks"][0]
        answer = client.post(JOBS, json={"input": track["prose"], **SMALL})
        place = answer.headers["location"]

        def look() -> dict[str, Any] | None:
            job: dict[str, Any] = client.get(place).json()["data"]
            return job if job["finished_at"] else None

        yield Scanned(deployment, client, track, answer, wait_for(look))


@pytest.fixture(scope="module")
def pairs(scanned: Scanned) -> list[dict[str, Any]]:
    """Pairs that were heard to be the same recording, the surest first."""
    return scanned.deployment.rows(
        "select comparison_id, score from marts.audio_comparisons "
        "where verdict in ('confirmed', 'variant') and score is not null order by score desc"
    )


def test_a_pasted_text_is_taken_and_its_scan_completes_as_described(scanned: Scanned) -> None:
    job = TypeAdapter(JobDocument).validate_python(scanned.document)
    assert (scanned.answer.status_code, job["status"], job["error"]) == (202, "completed", None)
    assert scanned.result["music_id"] == scanned.track["music_id"]


def test_the_ranking_holds_works_that_carry_the_recording_and_nothing_else(
    scanned: Scanned,
) -> None:
    truth = scanned.deployment.world(f"/_world/truth/{scanned.track['music_id']}")["works"]
    same = {work["aweme_id"] for work in truth if work["relation"] == "same"}
    ranked = scanned.result["aweme_list"]
    assert len(ranked) >= 5
    assert {video["aweme_id"] for video in ranked} <= same
    assert [video["rank"] for video in ranked] == list(range(1, len(ranked) + 1))
    scores = [video["hot_score"] for video in ranked if "hot_score" in video]
    assert scores == sorted(scores, reverse=True)
    assert {video["statistics_source"] for video in ranked} == {"public_video_detail_page"}


def test_no_column_has_one_value_for_what_its_surface_does_not_show(scanned: Scanned) -> None:
    stored = open_lake_for_reading(scanned.deployment.home.lake_url)
    assert undeclared(constant_columns(stored), read_declarations()) == []


def test_a_link_by_sound_has_its_evidence_and_one_by_id_needs_none(scanned: Scanned) -> None:
    for video in scanned.result["aweme_list"]:
        assert (video.get("evidence") is None) == (video["link_type"] == "exact_music_id")


def test_coverage_says_of_each_source_why_it_ended(scanned: Scanned) -> None:
    sources = scanned.result["coverage"]["sources"]
    names = {source["surface"] for source in sources}
    assert {"music_info", "music_list", "user_posts", "video_detail"} <= names
    assert all(source["stop_reason"] for source in sources)


def test_invented_data_is_marked_wherever_it_is_shown(scanned: Scanned, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    scanned.said_by("report", scanned.document["job_id"], "--out", str(page))
    assert scanned.result["is_demo_data"] is True
    assert DEMO_MARK in page.read_text(encoding="utf-8")


def test_somebody_else_repeats_every_number_of_its_report_with_pandas_alone(
    scanned: Scanned, tmp_path: Path
) -> None:
    job_id = scanned.document["job_id"]
    package, page = tmp_path / "package.zip", tmp_path / "report.html"
    scanned.said_by("export", "all", "--job", job_id, "--out", str(package))
    scanned.said_by("report", job_id, "--out", str(page))
    recipient = hand_over(package, tmp_path / "elsewhere")
    numbers = next(one for one in recipient.numbers() if one["job_id"] == job_id)
    pairs = scanned.client.get(f"/api/v1/sametrack/jobs/{job_id}/comparisons").json()
    rejected = best_rejected(pairs["data"]["comparisons"])
    assert_repeated(shown_numbers(scanned.document, rejected), numbers)
    assert_all_numbers_are(page.read_text(encoding="utf-8"), numbers)
    assert f"{scanned.result['confirmed_count']} confirmed videos" in recipient.examples()


def test_the_same_question_in_other_words_is_served_from_the_stored_result(
    scanned: Scanned,
) -> None:
    track, job_id = scanned.track, scanned.document["job_id"]
    for text in (track["prose"], track["share_link"], track["music_id"]):
        again = scanned.client.post(JOBS, json={"input": text, "count": 3, **SMALL})
        assert (again.status_code, again.json()["data"]["job_id"]) == (200, job_id)
    asked = {"music_id": track["music_id"], "count": 3, **SMALL}
    ranking = scanned.client.get(HOT, params=asked).json()
    found = Envelope[HotVideosResponse].model_validate(ranking).data
    assert (found["returned_count"], found["job_id"]) == (3, job_id)


def test_the_command_prints_the_same_finished_job(scanned: Scanned) -> None:
    said = scanned.said_by_process(
        "scan", scanned.track["prose"], "--candidate-limit", str(SMALL["candidate_limit"]),
        "--count", "3", "--json", "--api", str(scanned.client.base_url),
    )  # fmt: skip
    reported = json.loads(said)
    assert reported["job_id"] == scanned.document["job_id"]
    ranked = [video["aweme_id"] for video in scanned.result["aweme_list"]]
    assert [video["aweme_id"] for video in reported["result"]["aweme_list"]] == ranked[:3]


def test_evidence_can_be_seen_and_heard(scanned: Scanned, pairs: list[dict[str, Any]]) -> None:
    assert pairs
    excerpts = 0
    for pair in pairs[:4]:
        data = scanned.client.get(f"{PAIRS}/{pair['comparison_id']}").json()["data"]
        ET.fromstring(scanned.client.get(data["picture"]["svg"]).text)
        picture = scanned.client.get(data["picture"]["png"]).content
        Image.open(io.BytesIO(picture)).verify()
        for kept in filter(None, data["excerpts"].values()):
            excerpts += 1
            sound = scanned.client.get(kept["path"])
            assert sound.headers["content-type"] == "audio/mpeg"
            assert seconds_of(sound.content) == pytest.approx(kept["duration_s"], abs=1.1)
    assert excerpts >= 2


def test_a_scan_leaves_no_sound_behind(scanned: Scanned) -> None:
    assert scanned.document["status"] == "completed"
    assert list(scanned.deployment.home.sounds_dir.iterdir()) == []


def test_a_stored_pair_is_measured_again_to_the_same_numbers(
    scanned: Scanned, pairs: list[dict[str, Any]], tmp_path: Path
) -> None:
    picture, heard = tmp_path / "pair.png", tmp_path / "heard"
    said = scanned.said_by(
        "audio", "explain", str(pairs[0]["comparison_id"]), "--json",
        "--out", str(picture), "--excerpts", str(heard),
    )  # fmt: skip
    assert json.loads(said)["measured_again"] == {"is_equal": True, "deviations": {}}
    Image.open(picture).verify()
    assert (heard / "candidate.mp3").stat().st_size > 10_000


def seconds_of(encoded: bytes) -> float:
    with av.open(io.BytesIO(encoded), "r") as container:
        stream = container.streams.audio[0]
        samples = sum(int(frame.samples) for frame in container.decode(stream))
        return samples / stream.rate


def test_each_step_has_its_rows_in_a_table_of_its_own(scanned: Scanned) -> None:
    job_id, music_id = scanned.document["job_id"], scanned.track["music_id"]

    def rows(table: str) -> list[dict[str, Any]]:
        return scanned.deployment.rows(f"select * from marts.{table} where job_id = '{job_id}'")

    assert {row["source_entity_id"] for row in rows("music_first_screen")} == {music_id}
    listed = {
        row["aweme_id"]
        for table in ("music_first_screen", "author_first_screens", "hashtag_first_screens")
        for row in rows(table)
    }
    pool = {row["aweme_id"] for row in rows("candidate_pool")}
    searched = {
        row["aweme_id"]
        for row in rows("candidate_pool")
        if row["source_surface"].startswith("search")
    }
    assert pool <= listed | searched
    details = {row["aweme_id"]: row["outcome"] for row in rows("video_details")}
    assert details.keys() == pool
    assert pool <= {row["aweme_id"] for row in rows("candidates")}  # the rounds add others
    accounts = {row["sec_uid"] for row in rows("account_profiles") if row["profile_observed_at"]}
    assert accounts <= {row["sec_uid"] for row in rows("account_summaries")}
    assert len(accounts) == scanned.document["progress"]["account_profile_count"] > 0
