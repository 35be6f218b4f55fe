"""Somebody else with a data package and pandas repeats the reports, joins tables and cites them."""

import csv
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from api.cli.local_job_client import open_local_job_client
from api.settings import ApiSettings
from tests.stored_results import result
from tests.warehouse.exports.packages import Recipient, assert_repeated, hand_over, shown_numbers
from tests.warehouse.lake_rows import to_row
from warehouse.lake.record_rows import pack_document

pytestmark = pytest.mark.full

HOSTILE = '=HYPERLINK("https://an.example";"a")'
TRACK = "7361729694329545668"
JOB = "0a000000-0000-4000-8000-000000000001"
WHOLE = ("--creator", "A laboratory")
SEC_UID, NICKNAME, TERM = "MS4wLjABAAAAan-account_of-the-test", "A nickname", "a searched name"


@pytest.fixture(scope="module")
def scans(first_release_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data home of the packages that this file hands over."""
    home = tmp_path_factory.mktemp("scans") / "home"
    shutil.copytree(first_release_home, home)
    return home


@pytest.fixture(scope="module")
def handed_over() -> dict[tuple[str, ...], Recipient]:
    """Each package is made once: those who got it only read."""
    return {}


@pytest.fixture
def reader(
    scans: Path,
    handed_over: dict[tuple[str, ...], Recipient],
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[..., Any],
) -> Callable[..., Recipient]:
    """Somebody who gets a package of what the scans of the first release left."""
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(scans))

    def hand(*arguments: str) -> Recipient:
        if arguments not in handed_over:
            place = scans.with_name(f"package-{len(handed_over)}")
            said = command("export", "all", *arguments, "--out", f"{place}.zip")
            assert said.status == 0, said.remarks
            handed_over[arguments] = hand_over(Path(f"{place}.zip"), place)
        return handed_over[arguments]

    return hand


def csv_rows(package: Path, name: str) -> list[dict[str, str]]:
    text = (package / "data" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_zip(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def foreign_keys(package: Path) -> Iterator[tuple[str, str, str, str]]:
    descriptor = json.loads((package / "datapackage.json").read_text(encoding="utf-8"))
    for resource in descriptor["resources"]:
        for key in resource["schema"].get("foreignKeys", ()):
            reference = key["reference"]
            yield resource["name"], key["fields"][0], reference["resource"], reference["fields"][0]


@pytest.mark.soak
def test_every_number_of_the_reports_is_repeated_with_pandas_alone(
    reader: Callable[..., Recipient],
) -> None:
    repeated = {numbers["job_id"]: numbers for numbers in reader(*WHOLE).numbers()}
    with open_local_job_client(ApiSettings()) as jobs:
        assert {job["job_id"] for job in jobs.jobs(limit=10)} == set(repeated)
        for job in map(jobs.job, repeated):
            rejected = [dict(pair) for pair in jobs.gather_pairs(job).rejected]
            shown = shown_numbers(job, rejected)
            assert shown["ranking"]
            assert_repeated(shown, repeated[job["job_id"]])


def test_the_examples_of_the_readme_run_and_print_the_numbers(
    reader: Callable[..., Recipient],
) -> None:
    recipient = reader(*WHOLE)
    printed = recipient.examples()
    last = recipient.numbers()[-1]
    assert f"{last['confirmed_count']} confirmed videos\n" in printed
    assert f"{last['candidate_count']} candidates\n" in printed


@pytest.mark.parametrize("scope", [pytest.param("job", marks=pytest.mark.soak), "track"])
def test_a_package_of_a_job_or_track_has_all_that_its_keys_point_to(
    reader: Callable[..., Recipient], command: Callable[..., Any], scope: str
) -> None:
    found = command("sql", "select job_id, music_id from marts.rankings", "--json").document
    row = found["rows"][0]
    recipient = reader(f"--{scope}", row["job_id" if scope == "job" else "music_id"])
    keys = list(foreign_keys(recipient.folder))
    assert ("marts_audio_comparisons", "candidate_aweme_id", "marts_videos", "aweme_id") in keys
    assert ("marts_candidates", "aweme_id", "marts_videos", "aweme_id") in keys
    for table, column, target, key in keys:
        values = {each[column] for each in csv_rows(recipient.folder, table)} - {""}
        assert values <= {each[key] for each in csv_rows(recipient.folder, target)}, table
    assert recipient.numbers()[0]["confirmed_count"] > 0


def test_rejected_candidates_have_their_videos_verdicts_and_measurements(
    reader: Callable[..., Recipient], command: Callable[..., Any]
) -> None:
    found = command("sql", "select distinct music_id from marts.rankings", "--json").document
    package = reader("--track", found["rows"][0]["music_id"]).folder
    ranked = {row["aweme_id"] for row in csv_rows(package, "marts_rankings")}
    videos = {row["aweme_id"] for row in csv_rows(package, "marts_videos")}
    rejected = [
        row for row in csv_rows(package, "marts_candidates") if row["outcome"] == "rejected"
    ]
    assert {row["aweme_id"] for row in rejected} <= videos - ranked
    assert all(row["reason"] for row in rejected)
    pairs = [
        row for row in csv_rows(package, "marts_audio_comparisons") if row["verdict"] == "rejected"
    ]
    assert len(pairs) > 0
    assert all(row["score"] and row["reason"] and row["limits"] for row in pairs)
    assert {row["candidate_aweme_id"] for row in pairs} <= videos


def test_every_description_states_moment_version_rights_sources_and_contributors(
    reader: Callable[..., Recipient],
) -> None:
    package = reader(*WHOLE).folder
    described = json.loads((package / "datapackage.json").read_text(encoding="utf-8"))
    croissant = json.loads((package / "croissant.json").read_text(encoding="utf-8"))
    citation = yaml.safe_load((package / "CITATION.cff").read_text(encoding="utf-8"))
    readme = (package / "README.md").read_text(encoding="utf-8")
    moment = pd.Timestamp(described["sametrack"]["as_of"])
    version = described["version"]
    assert version.startswith(f"{moment.year}.{moment.month}.{moment.day}+")
    assert (croissant["version"], citation["version"]) == (version, version)
    assert described["sametrack"]["as_of"] in readme
    assert "exported_at" not in described["sametrack"]
    assert "anybody may use it" in described["rights"]
    assert croissant["license"] == described["rights"]
    assert described["rights"] in readme
    assert "anybody may use it" in citation["abstract"]
    sources = [source["title"] for source in described["sources"]]
    assert croissant["isBasedOn"] == sources
    assert all(source in readme for source in sources)
    people = [one["title"] for one in described["contributors"]]
    assert people[0] == "A laboratory"
    assert people[1].startswith("Sametrack ")
    assert citation["authors"] == [{"name": "A laboratory"}]
    assert croissant["creator"]["name"] == "A laboratory"
    assert {"cff-version", "message", "title", "type"} <= citation.keys()
    for text in ("audiolib_chroma_mfcc", "| chroma distance, at most | 0.25 | 0.65 |", "0.48"):
        assert text in readme


def test_a_package_without_as_of_shows_one_moment_and_can_be_made_again(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    small_store.add_ranking()
    command("export", "all", "--out", "one.zip")
    moment = json.loads(read_zip(tmp_path / "one.zip")["datapackage.json"])["sametrack"]["as_of"]
    command("export", "rankings", "--format", "json", "--out", "rankings.json")
    single = json.loads((tmp_path / "rankings.json").read_text(encoding="utf-8"))["method"]
    assert "T" in moment
    assert single["as_of"] > moment


def add_scan(small_store: Any) -> None:
    """A scan with a result, one rejected candidate, and texts that name people."""
    document = result(3)
    document |= {"music_id": TRACK, "music": {"title": "@Somebody创作的原声"}, "keyword": None}
    document["coverage"]["not_reached"] = [f"user_info:{SEC_UID}", "hashtag_list:123"]
    document["parameters"] |= {"search_keywords": [TERM]}
    small_store.lake.append(
        "marts.job_results",
        [{"job_id": JOB, "music_id": TRACK, "document": pack_document(document),
          "confirmed_count": 3, "algorithm": "a"}],
    )  # fmt: skip
    small_store.add_works(SEC_UID, nickname=NICKNAME, desc=HOSTILE)
    rows: tuple[tuple[str, dict[str, Any]], ...] = (
        ("marts.candidates", {"aweme_id": "7410000000000000001", "outcome": "rejected"}),
        ("marts.audio_comparisons", {"candidate_aweme_id": "7410000000000000001",
                                     "track_music_id": TRACK, "verdict": "rejected"}),
    )  # fmt: skip
    for name, row in rows:
        small_store.lake.append(name, [to_row(name, job_id=JOB, **row)])


def test_texts_are_unchanged_for_programs_and_escaped_for_spreadsheets(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    small_store.add_works(SEC_UID, nickname=NICKNAME, desc=HOSTILE)
    command("export", "all", "--out", "p.zip")
    with (
        zipfile.ZipFile(tmp_path / "p.zip") as archive,
        archive.open("data/raw_videos.csv") as file,
    ):
        assert pd.read_csv(file)["desc"].tolist() == [HOSTILE] * 2
    command("export", "videos", "--out", "exact.csv")
    assert pd.read_csv(tmp_path / "exact.csv")["desc"].tolist() == [HOSTILE] * 2
    command("export", "videos", "--bom", "--out", "sheet.csv")
    assert pd.read_csv(tmp_path / "sheet.csv")["desc"].tolist() == [f"'{HOSTILE}"] * 2
    command("export", "videos", "--out", "sheet.xlsx")
    sheet = pd.read_excel(tmp_path / "sheet.xlsx", dtype={"aweme_id": "string"}, engine="calamine")
    assert sheet["desc"].tolist() == [HOSTILE] * 2
    assert sheet["aweme_id"].tolist() == ["7410000000000000001", "7410000000000000002"]


def test_a_pseudonymised_package_names_nobody_and_its_numbers_are_repeated(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    add_scan(small_store)
    command("export", "all", "--job", JOB, "--pseudonymise", "--out", "p.zip")
    everything = b"".join(read_zip(tmp_path / "p.zip").values())
    videos = [
        str(video["aweme_id"])
        for video in result(3)["ranked"]
        if "evidence" not in video  # ids of the comparisons of these tests contain the video's
    ]
    assert len(videos) == 2
    names = (SEC_UID, NICKNAME, HOSTILE, TERM, "Somebody", "7410000000000000001", *videos)
    assert [name for name in names if name.encode() in everything] == []
    recipient = hand_over(tmp_path / "p.zip", tmp_path / "elsewhere")
    (numbers,) = recipient.numbers()
    assert (numbers["confirmed_count"], numbers["rejected_count"]) == (3, 1)
    assert numbers["not_reached"] == {"user_info": 1, "hashtag_list": 1}
    assert [row["entity_id"][:8] for row in csv_rows(recipient.folder, "results_not_reached")] == [
        "account-", "123"
    ]  # fmt: skip


def test_the_result_of_a_reused_scan_has_the_rows_of_that_scan(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    add_scan(small_store)
    copy = "0b000000-0000-4000-8000-000000000002"
    document = result(3) | {"scan_job_id": JOB, "music_id": TRACK, "keyword": None}
    small_store.lake.append(
        "marts.job_results",
        [{"job_id": copy, "music_id": TRACK, "document": pack_document(document),
          "confirmed_count": 3, "algorithm": "a"}],
    )  # fmt: skip
    command("export", "all", "--job", copy, "--out", "p.zip")
    recipient = hand_over(tmp_path / "p.zip", tmp_path / "elsewhere")
    numbers = {one["job_id"]: one for one in recipient.numbers()}
    assert numbers[copy]["rejected_count"] == 1
    assert numbers[copy]["candidate_count"] == 1
