"""Our own operations about one compared pair: numbers, pictures, and who may see them."""

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import orjson
import pytest
from PIL import Image
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.examples import read_example
from api.schemas.extensions.exports import ComparisonDocument
from api.services.evidence.service import PATH
from api.services.job_document import JOBS_PATH
from pipelines.audio.features.sound_features import FEATURE_VERSION, Features, Peaks
from pipelines.audio.features.sounds import pack_features
from tests.audio.made_sounds import made_mp3
from tests.stored_results import result
from warehouse.caches import ExcerptFolder
from warehouse.records.evidence import (
    ALGORITHM,
    MatchThresholds,
    PairEvidence,
    SearchedRange,
    find_excerpts,
)

COMPARISON_ID = "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"
SCAN = "0d0f7b1e-2f4c-4d7e-8a51-5b8f0c1d2e3f"
HERE = f"{PATH}/{COMPARISON_ID}"
SOUND = made_mp3(b"invented")
TOKEN = "sesam-42-sesam-42-sesam-42"
PLACES = ("", "/picture.svg", "/picture.png", "/excerpt/candidate")
CANDIDATE = "7350000000000000003"
PAIR = PairEvidence(
    verdict="confirmed", reason="whole_rule_met", segment="whole", chroma_distance=0.09,
    mfcc_distance=0.21, overlap_s=8.1, reference_start_s=1.2, candidate_start_s=0.1,
    peak_agreement=0.42, score=0.93, speed=1.0, semitones=0.0,
    searched=SearchedRange(
        speed=(1.0, 1.0), tempo=(1.0, 1.0), semitones=(0.0, 0.0),
                tempo_with_pitch=(1.0, 1.0), min_overlap_s=5.5,
        reference_s=21.3, candidate_s=8.1,
    ),
)  # fmt: skip


def packed(seed: int, frames: int = 12) -> bytes:
    numbers = np.random.default_rng(seed)
    peaks = Peaks(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.uint8))
    return pack_features(
        Features(numbers.random((frames, 36)), -numbers.random((frames, 64)), peaks)
    )


@pytest.fixture
def heard(service: Any, tmp_path: Path) -> Any:
    """The service with one comparison whose sounds were heard."""
    service.comparisons[COMPARISON_ID] = {
        "comparison_id": COMPARISON_ID,
        "job_id": SCAN,
        "track_music_id": "7348759830572834348",
        "reference_aweme_id": "7350000000000000001",
        "candidate_aweme_id": CANDIDATE,
        "reference_music_id": "7348759830572834348",
        "candidate_music_id": "7400000000000000003",
        "reference_sha256": "a" * 64,
        "candidate_sha256": "b" * 64,
        **asdict(PAIR),
        "searched": orjson.dumps(asdict(PAIR)["searched"]).decode(),
        "limits": orjson.dumps(asdict(MatchThresholds())).decode(),
        "algorithm": ALGORITHM,
        "feature_version": FEATURE_VERSION,
        "library_version": "av 19.0.2; numpy 2.5.5; scipy 1.17.1; numba 0.68.0",
    }
    service.sounds |= {"a" * 64: {"features": packed(1)}, "b" * 64: {"features": packed(2)}}
    service.captions[CANDIDATE] = {
        "aweme_id": CANDIDATE,
        "desc": "纸船 Paper Boats",
        "nickname": "阿明",
        "sec_uid": "MS4wLjABAAAA3",
        "share_url": "https://vidplat.example/video/1",
    }
    service.excerpts = tmp_path / "excerpts"
    candidate = find_excerpts(PAIR, reference_sha256=None, candidate_sha256="b" * 64)["candidate"]
    folder = ExcerptFolder(folder=service.excerpts, max_bytes=1_000_000, max_age_s=3600.0)
    folder.write(candidate, SOUND)
    return service


def test_the_numbers_stand_beside_their_limits(heard: Any) -> None:
    document = heard.client().get(HERE).json()
    Envelope[ComparisonDocument].model_validate(document)
    data = document["data"]
    assert data["evidence"]["score"] == PAIR.score
    assert {measure["name"]: measure["is_met"] for measure in data["measures"]} == {
        "chroma_distance": True, "mfcc_distance": True, "overlap_s": True,
        "peak_agreement": None, "score": True,
    }  # fmt: skip
    assert data["picture"] == {form: f"{HERE}/picture.{form}" for form in ("svg", "png")}
    assert data["videos"].keys() == {CANDIDATE}  # the reference was never observed


def test_the_verdict_is_a_sentence_in_both_languages(heard: Any) -> None:
    data = heard.client().get(HERE).json()["data"]
    assert data["verdict_text"] == "8.1 s of the song play in this video, at original speed."
    assert data["verdict_text_zh"] == "作品中有 8.1 秒播放的是这首歌，原速原调。"


def test_both_sounds_lie_on_one_axis_and_say_how_they_are_heard(heard: Any) -> None:
    sounds = heard.client().get(HERE).json()["data"]["sounds"]
    assert {role: sound["excerpt_state"] for role, sound in sounds.items()} == {
        "reference": "readable", "candidate": "stored",
    }  # fmt: skip
    assert sounds["reference"]["excerpt_path"] == f"{HERE}/excerpt/reference?fetch=true"
    assert sounds["candidate"]["excerpt_path"] == f"{HERE}/excerpt/candidate"
    assert {sound["excerpt_song_start_s"] for sound in sounds.values()} == {1.1}
    assert sounds["reference"]["waveform"]["start_s"] == 0.0
    assert sounds["candidate"]["waveform"]["start_s"] == pytest.approx(1.1)
    assert {len(sound["waveform"]["levels"]) for sound in sounds.values()} == {12}


def test_a_sound_that_cannot_be_heard_says_why(heard: Any) -> None:
    heard.comparisons[COMPARISON_ID] |= {"reference_start_s": None}
    reference = heard.client().get(HERE).json()["data"]["sounds"]["reference"]
    assert (reference["excerpt_state"], reference["excerpt_path"]) == ("not_aligned", None)


def test_the_answer_shown_is_what_the_service_answers(heard: Any) -> None:
    document = heard.client().get(HERE).json()
    shown = read_example("sametrack_comparison")
    assert document["data"] == shown["data"]
    assert document["docs"] == shown["docs"]


def test_the_vector_picture_is_one_and_can_do_nothing(heard: Any) -> None:
    answer = heard.client().get(f"{HERE}/picture.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script" not in policy
    assert ET.fromstring(answer.text).tag.endswith("svg")


def test_the_pixel_picture_decodes(heard: Any) -> None:
    answer = heard.client().get(f"{HERE}/picture.png")
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    Image.open(io.BytesIO(answer.content)).verify()
    assert "private" in answer.headers["cache-control"]


def test_the_same_numbers_are_not_sent_twice(heard: Any) -> None:
    client = heard.client()
    tag = client.get(HERE).headers["etag"]
    assert client.get(HERE, headers={"if-none-match": tag}).status_code == 304


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "name", ["nothing", "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e62", "..%2f..%2fetc%2fpasswd", "'"]
)
def test_an_unknown_comparison_is_not_found(heard: Any, place: str, name: str) -> None:
    answer = heard.client().get(f"{PATH}/{name}{place}")
    assert answer.status_code == 404
    assert answer.json()["data"]["error"]["type"] == "not_found"


@pytest.mark.parametrize("place", PLACES)
def test_evidence_needs_the_token_like_everything_else(heard: Any, place: str) -> None:
    client = heard.client(own_api_token=TOKEN)
    assert client.get(f"{HERE}{place}").status_code == 401
    given = {"authorization": f"Bearer {TOKEN}"}
    assert client.get(f"{HERE}{place}", headers=given).status_code == 200


@pytest.mark.parametrize("place", PLACES)
def test_a_parameter_is_refused(heard: Any, place: str) -> None:
    assert heard.client().get(f"{HERE}{place}", params={"theme": "dark"}).status_code == 400


@pytest.mark.parametrize("features", [None, b"SMTF of another version"])
def test_a_sound_that_cannot_be_shown_leaves_the_numbers(heard: Any, features: Any) -> None:
    heard.sounds["b" * 64] = {"features": features}
    client: TestClient = heard.client()
    data = client.get(HERE).json()["data"]
    assert data["picture"] == {"svg": None, "png": None}
    assert [sound["waveform"] for sound in data["sounds"].values()] == [None, None]
    assert client.get(f"{HERE}/picture.svg").status_code == 404


def test_an_excerpt_is_served_by_the_comparison_alone(heard: Any) -> None:
    client = heard.client()
    kept = client.get(HERE).json()["data"]["excerpts"]
    assert kept["reference"] is None
    answer = client.get(kept["candidate"]["path"])
    assert (answer.content, answer.headers["content-type"]) == (SOUND, "audio/mpeg")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get(f"{HERE}/excerpt/reference").status_code == 404
    assert client.get(f"{HERE}/excerpt/other").status_code == 400


def test_a_player_may_jump_inside_an_excerpt(heard: Any) -> None:
    answer = heard.client().get(f"{HERE}/excerpt/candidate", headers={"range": "bytes=4-7"})
    assert (answer.status_code, answer.content) == (206, SOUND[4:8])
    assert answer.headers["content-range"] == f"bytes 4-7/{len(SOUND)}"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_plot_speaks_the_language_that_is_asked_for(heard: Any) -> None:
    client = heard.client()
    english, chinese = (
        client.get(f"{HERE}/picture.svg", params=asked).text for asked in ({}, {"language": "zh"})
    )
    assert "Chroma distance" in english
    assert "色度距离" not in english
    assert "色度距离" in chinese
    assert "Chroma distance" not in chinese
    refused = client.get(f"{HERE}/picture.svg", params={"language": "fr"})
    assert (refused.status_code, refused.json()["data"]["error"]["type"]) == (
        400,
        "invalid_parameter",
    )


def test_a_job_that_a_stored_result_served_lists_the_pairs_of_its_scan(heard: Any) -> None:
    job_id = heard.stored(result(1) | {"scan_job_id": SCAN}).job_id
    client = heard.client()
    listed = client.get(f"/api/v1/sametrack/jobs/{job_id}/comparisons").json()["data"]
    assert (listed["job_id"], listed["returned_count"]) == (job_id, 1)
    assert client.get(f"{JOBS_PATH}/{job_id}").json()["data"]["scan_job_id"] == SCAN
