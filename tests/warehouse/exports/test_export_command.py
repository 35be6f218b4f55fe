"""`sametrack export`: what leaves is what is stored, explained, and without names where asked."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.stored_results import result
from tests.warehouse.lake_rows import to_row
from warehouse.lake.record_rows import pack_document

pytestmark = pytest.mark.full

SEC_UID = "MS4wLjABAAAAan-account_of-the-test"
HOSTILE = '=HYPERLINK("https://an.example";"a")'
NAMES = (SEC_UID, "A nickname", HOSTILE, "handle_1", "https://pictures.example", "741000")
JOB = "0a000000-0000-4000-8000-000000000001"
TRACK = "7348759830572834348"


@pytest.fixture(scope="module")
def filled_home(
    tmp_path_factory: pytest.TempPathFactory, small_store_at: Callable[[Path], Any]
) -> Any:
    """A warehouse of a few rows, for tests that only read."""
    root = tmp_path_factory.mktemp("filled") / "data"
    small_store = small_store_at(root)
    fill(small_store)
    return small_store


@pytest.fixture
def filled(filled_home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(filled_home.home.root.parent))
    return filled_home


def fill(small_store: Any) -> None:
    small_store.add_ranking()
    small_store.add_ranking(job_id="another", hour=1)
    small_store.add_works(SEC_UID, nickname="A nickname", desc=HOSTILE)
    small_store.add_coverage()


def add_result(small_store: Any, title: str) -> None:
    """The result of a scan of a user sound, whose title names its uploader."""
    document = result(3) | {"music_id": TRACK, "music": {"title": title}}
    row: dict[str, object] = {
        "job_id": JOB, "music_id": TRACK, "document": pack_document(document),
        "confirmed_count": 3, "algorithm": "a",
    }  # fmt: skip
    small_store.lake.append("marts.job_results", [row])


def read_zip(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_table_of_a_job_is_a_file_named_after_it(
    filled: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    summary = command("export", "rankings", "--job", JOB, "--bom", "--json").document
    assert summary["row_counts"] == {"marts.rankings": 3}
    body = (tmp_path / "sametrack-demo-rankings.csv").read_bytes()
    assert body.startswith(b"\xef\xbb\xbfjob_id,rank,aweme_id")
    assert body.count(b"\r\n") == 4


def test_the_beginning_of_a_job_id_will_do_if_one_job_has_it(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    fill(small_store)
    summary = command("export", "rankings", "--job", JOB[:8], "--json").document
    assert (summary["row_counts"], summary["method"]["scope"]) == (
        {"marts.rankings": 3},
        f"job {JOB}",
    )
    small_store.add_ranking(job_id=f"{JOB[:8]}-another", hour=2)
    refused = command("export", "rankings", "--job", JOB[:8], "--out", "b.csv")
    assert (refused.status, "2 jobs begin with" in refused.remarks) == (2, True)
    assert not (tmp_path / "b.csv").exists()


def test_a_known_job_without_rows_in_a_table_is_an_empty_file(
    filled: Any, command: Callable[..., Any]
) -> None:
    assert command("export", "variants", "--job", JOB, "--json").document["row_counts"] == {
        "marts.variants": 0
    }


def test_videos_and_sounds_of_a_track_are_those_of_what_it_confirmed_and_compared(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    small_store.add_works(SEC_UID, nickname="A nickname", desc="no video names the track")
    columns: dict[str, Any] = {
        "music_id": TRACK, "aweme_id": "7410000000000000001", "job_id": JOB,
        "link_type": "audio_fingerprint_match", "source_music_id": "7", "algorithm": "a",
    }  # fmt: skip
    small_store.lake.append("marts.confirmed_videos", [to_row("marts.confirmed_videos", **columns)])
    pair: dict[str, Any] = {"track_music_id": TRACK, "job_id": JOB, "candidate_sha256": "heard"}
    small_store.lake.append("marts.audio_comparisons", [to_row("marts.audio_comparisons", **pair)])
    sounds = [to_row("raw.sounds", sound_sha256=name) for name in ("heard", "of others")]
    small_store.lake.append("raw.sounds", sounds)
    command("export", "videos", "--track", TRACK, "--out", "videos.parquet")
    found = pq.read_table(tmp_path / "videos.parquet")
    assert found["aweme_id"].to_pylist() == ["7410000000000000001"]
    command("export", "sounds", "--track", TRACK, "--out", "sounds.parquet")
    found = pq.read_table(tmp_path / "sounds.parquet")
    assert found["sound_sha256"].to_pylist() == ["heard"]


def test_ids_are_text_and_formulas_are_disarmed_for_spreadsheets(
    filled: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    assert command("export", "videos", "--bom", "--out", "a.csv").status == 0
    assert f"'{HOSTILE}".replace('"', '""').encode() in (tmp_path / "a.csv").read_bytes()
    assert command("export", "videos", "--out", "a.parquet").status == 0
    found = pq.read_table(tmp_path / "a.parquet")
    assert found["desc"].to_pylist() == [HOSTILE] * 2
    assert str(found.schema.field("aweme_id").type) == "string"
    assert found.schema.metadata[b"sametrack.is_demo_data"] == b"true"


def test_a_workbook_tells_method_and_coverage(
    filled: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    assert command("export", "rankings", "--job", JOB, "--format", "xlsx").status == 0
    texts = read_zip(tmp_path / "sametrack-demo-rankings.xlsx")["xl/sharedStrings.xml"].decode()
    assert "never a full list" in texts
    assert "exhausted" in texts


def test_a_data_package_explains_itself_and_its_sums_hold(
    filled: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    summary = command("export", "all", "--track", TRACK, "--out", "a.zip", "--json").document
    assert summary["row_counts"]["marts.rankings"] == 6
    files = read_zip(tmp_path / "a.zip")
    for line in files["checksums.sha256"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(files[name]).hexdigest() == digest
    descriptor = json.loads(files["datapackage.json"])
    assert descriptor["name"] == "sametrack-demo"
    rankings = next(one for one in descriptor["resources"] if one["name"] == "marts_rankings")
    assert rankings["hash"] == f"sha256:{hashlib.sha256(files[rankings['path']]).hexdigest()}"
    fields = {one["name"]: one for one in rankings["schema"]["fields"]}
    assert (fields["aweme_id"]["type"], fields["digg_count"]["unit"]) == ("string", "count")
    assert files[rankings["path"]].startswith(",".join(fields).encode())
    assert b"demo data" in files["README.md"]
    assert b"music_list | exhausted" in files["coverage.md"]
    assert b"No result of a scan is in scope" in files["error_sheet.md"]
    assert b"## marts.rankings" in files["dictionary.md"]


def test_the_same_moment_makes_the_same_package(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    fill(small_store)
    ask = ("export", "all", "--job", JOB, "--as-of", "2026-11-01", "--format", "package", "--out")
    command(*ask, "one.zip")
    small_store.add_ranking(hour=30)
    small_store.lake.compact("marts.rankings")
    command(*ask, "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


FORMS = [
    pytest.param("csv", marks=pytest.mark.soak),  # a package has CSV files
    "json",
    pytest.param("parquet", marks=pytest.mark.soak),  # the same rows as JSON
    "xlsx",
    "package",
]


@pytest.mark.parametrize("form", FORMS)
def test_without_names_nothing_tells_who_and_an_error_sheet_has_the_music_id_for_the_title(
    small_store: Any, command: Callable[..., Any], tmp_path: Path, form: str
) -> None:
    fill(small_store)
    add_result(small_store, "@Somebody创作的原声")
    asked = ("all",) if form == "package" else ("videos", "job_results")
    for what in asked:
        path = tmp_path / f"{what}.out"
        said = command("export", what, "--pseudonymise", "--format", form, "--out", str(path))
        assert said.status == 0
        assert "keyed hashes" in said.body.decode()
        packed = form in {"xlsx", "package"}
        summary = b"".join(read_zip(path).values()) if packed else path.read_bytes()
        assert [name for name in (*NAMES, "Somebody") if name.encode() in summary] == []
    if form in {"json", "xlsx", "package"}:
        assert f"the recording of {TRACK}".encode() in summary


def test_pseudonyms_are_the_same_in_every_table_and_need_the_key(
    filled: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    for what in ("videos", "captures", "accounts"):
        command("export", what, "--pseudonymise", "--out", f"{what}.parquet")
    found = {what: pq.read_table(tmp_path / f"{what}.parquet") for what in ("videos", "captures")}
    [author] = set(found["videos"]["sec_uid"].to_pylist())
    assert author.startswith("account-")
    assert author in found["captures"]["entity_id"].to_pylist()
    key = filled.home.root / "pseudonyms.key"
    assert key.stat().st_mode & 0o077 == 0
    key.unlink()
    command("export", "videos", "--pseudonymise", "--out", "again.parquet")
    again = pq.read_table(tmp_path / "again.parquet")["sec_uid"].to_pylist()
    assert again[0] != author


REFUSED = (
    (("nothing",), "no table"),
    (("all",), "more than one table"),
    (("chart_issues", "--track", "1"), "have no track"),
    (("payloads", "--job", "1"), "have no job"),
    (("videos", "--job", "1", "--track", "1"), "not both"),
    (("rankings", "--job", "0b1c2d3e"), "no stored row is of the job"),
    (("rankings", "--track", "736172969432954566"), "no stored row is of the track"),
    (("all", "--track", "1", "--format", "package"), "no stored row is of the track"),
    (("videos", "--out", "/proc/none/a.csv"), "cannot be written"),
    (("videos", "--as-of", "2999-01-01"), "too recent"),
)


@pytest.mark.usefixtures("filled")
def test_export_command_refuses_invalid_arguments_in_one_line(command: Callable[..., Any]) -> None:
    for arguments, message in REFUSED:
        said = command("export", *arguments)
        assert (said.status, message in said.remarks) == (2, True), arguments
