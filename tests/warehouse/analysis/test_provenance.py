"""A row of a ranking leads to the hashes of the bodies and sounds behind it."""

import hashlib
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.record_rows import pack_bytes
from warehouse.lake.store import Lake, open_lake
from warehouse.queries.provenance import trace_figure
from warehouse.records.errors import InvalidParameterError

STORE = Path(__file__).parents[2] / "data" / "first_release" / "store.tar.xz"
JOB = "4189ad23-1314-50fd-bdbb-584e501040b3"
LIST = "0da51b8d5d1fd3959a87252cee611b12e9495f6"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("store")
    with tarfile.open(STORE) as archive:
        archive.extractall(folder, filter="data")
    home = open_home(folder / "home", "sandbox")
    return open_lake(home.lake_url, world=home.world)


@pytest.fixture
def engine(lake: Lake) -> Iterator[Engine]:
    with closing(Engine(lake)) as opened:
        yield opened


def test_the_first_row_rests_on_bodies_that_show_its_counts_and_its_music_id(
    engine: Engine,
) -> None:
    trace = trace_figure(engine, job_id=JOB, rank=1)
    assert trace.comparison is None
    assert trace.figure["aweme_id"] == "7410370038153682757"
    lists = [one for one in trace.observations if one.surface == "music_list"]
    assert {one.body for one in lists} == {"intact"}
    assert {one.body for one in trace.observations} == {"intact", "deleted"}
    assert any(one.shows_counts and one.shows_music_id for one in trace.observations)
    assert any(sha256.startswith(LIST) for sha256 in trace.payloads)
    assert all(one.observed_at <= trace.figure["committed_at"] for one in trace.observations)


def test_a_row_confirmed_by_sound_rests_on_a_comparison_of_two_sounds(engine: Engine) -> None:
    trace = trace_figure(engine, job_id=JOB, rank=6)
    assert trace.comparison is not None
    document: Any = trace.to_document()
    figure = f"st:ranking/{JOB}/6"
    sources = {
        relation["prov:usedEntity"]
        for relation in document["wasDerivedFrom"].values()
        if relation["prov:generatedEntity"] == figure
    }
    evidence = f"st:comparison/{trace.comparison['comparison_id']}"
    assert sources == {evidence, *(f"st:payload/{sha256}" for sha256 in trace.payloads)}
    sounds = {
        relation["prov:usedEntity"]
        for relation in document["wasDerivedFrom"].values()
        if relation["prov:generatedEntity"] == evidence
    }
    assert sounds == {
        f"st:sound/{trace.comparison[f'{role}_sha256']}" for role in ("reference", "candidate")
    }


def test_every_name_in_the_document_is_declared_and_nothing_is_said_twice(engine: Engine) -> None:
    document: Any = trace_figure(engine, job_id=JOB, rank=1).to_document()
    declared = {*document["entity"], *document["activity"]}
    relations = [
        tuple(relation.items())
        for kind in ("wasGeneratedBy", "used", "wasDerivedFrom")
        for relation in document[kind].values()
    ]
    assert {name for relation in relations for _, name in relation} <= declared
    assert len(set(relations)) == len(relations)
    assert document["prefix"]["st"] == "urn:sametrack:"


def test_a_body_that_lost_its_hash_is_damaged(lake: Lake, engine: Engine) -> None:
    trace = trace_figure(engine, job_id=JOB, rank=1)
    deleted = next(one for one in trace.observations if one.body == "deleted")
    body = b"not what was recorded"
    assert hashlib.sha256(body).hexdigest() != deleted.payload_sha256
    row: dict[str, object] = {
        "sha256": deleted.payload_sha256, "body": pack_bytes(body), "size_bytes": len(body),
        "content_type": None,
    }  # fmt: skip
    lake.append("raw.payloads", [row])
    engine.refresh()
    again = trace_figure(engine, job_id=JOB, rank=1)
    states = {one.payload_sha256: one.body for one in again.observations}
    assert states[deleted.payload_sha256] == "damaged"
    lake.delete("raw.payloads", "sha256", [str(deleted.payload_sha256)])


def test_a_rank_that_is_not_there_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidParameterError, match="no rank 99"):
        trace_figure(engine, job_id=JOB, rank=99)
