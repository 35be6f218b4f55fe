"""A track to begin with is one that is known, never an invented id."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.responses.documents import Envelope
from api.schemas.health import ExampleDocument
from pipelines.doctor.probes import canaries as probes
from pipelines.doctor.probes.canaries import Canaries, ExampleTrack, example_track
from pipelines.settings import Settings
from tests.scripted_reads import ReadService, open_reads

MUSIC_ID = "7300000000000000001"


@pytest.fixture
def configured(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path, canary_music_id=MUSIC_ID) as reads:
        yield reads


def test_the_configured_track_is_offered(configured: ReadService) -> None:
    answer = configured.client().get("/api/v1/sametrack/example")
    found = Envelope[ExampleDocument].model_validate(answer.json()).data
    assert found == {"input": MUSIC_ID, "title": None, "is_demo_data": True}


def test_an_observed_track_stands_in_and_nothing_is_made_up() -> None:
    settings = Settings(_env_file=None)
    known = example_track(settings, sandbox_port=None, known={"music_id": "12345"})
    assert (known.input, known.title) == ("12345", None)
    assert example_track(settings, sandbox_port=None, known={}).input is None


def test_configured_example_track_precedes_one_of_the_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def add_link(canaries: Canaries, *, port: int) -> None:
        assert port == 8790
        canaries.offer("link", "http://v.vidplat.localhost:8790/abc/")
        canaries.offer("term", "Paper Boats")

    monkeypatch.setattr(probes, "add_sandbox_ids", add_link)
    chosen = Settings(_env_file=None, canary_music_id=MUSIC_ID)
    assert example_track(chosen, sandbox_port=8790, known={}) == ExampleTrack(MUSIC_ID, None)
    usual = example_track(Settings(_env_file=None), sandbox_port=8790, known={})
    assert usual == ExampleTrack("http://v.vidplat.localhost:8790/abc/", "Paper Boats")
