"""A demo leaves its job and tables where there are none yet, and nothing else."""

from contextlib import closing
from pathlib import Path

import pytest

from api.cli.processes.demo_environment import has_tables, keep_tables
from tests.cli.asked_scans import ask_for_scan
from warehouse import open_warehouse
from warehouse.control import captures, jobs, open_control
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import SametrackError


def collect(data_home: Path) -> None:
    home = open_home(data_home, "sandbox")
    open_lake(home.lake_url, world="sandbox")
    (home.cache_dir / "excerpts").mkdir(exist_ok=True)
    (home.cache_dir / "excerpts" / "one.mp3").write_bytes(data_home.name.encode())
    with closing(open_control(home.control_url, world="sandbox")) as control:
        job_id = ask_for_scan(control, "7348759830572834348")
        jobs.set_target(control, job_id, music_id="7348759830572834348", scan_key="a key")
        captures.next_numbers(control, [("music_list", "7348759830572834348")])


def test_tables_excerpts_and_jobs_are_kept(tmp_path: Path) -> None:
    collect(tmp_path / "demo")
    (tmp_path / "data" / "sandbox" / "reports").mkdir(parents=True)
    assert not has_tables(tmp_path / "data")
    assert keep_tables(tmp_path / "demo", tmp_path / "data")
    assert has_tables(tmp_path / "data")
    home = tmp_path / "data" / "sandbox"
    assert sorted(path.name for path in home.iterdir()) == [
        "cache", "control.sqlite", "lake", "reports", "world.json",
    ]  # fmt: skip
    with closing(open_control(f"sqlite:///{home / 'control.sqlite'}", world="sandbox")) as control:
        (job,) = jobs.newest(control, limit=5)
        assert (job.input, job.scan_key) == ("7348759830572834348", None)  # and is not reused
        assert captures.next_numbers(control, [("music_list", "7348759830572834348")])[0] == 2
    assert (home / "cache" / "excerpts" / "one.mp3").is_file()
    with open_warehouse(home) as opened:
        assert opened.world == "sandbox"


def test_demo_does_not_replace_existing_tables(tmp_path: Path) -> None:
    for name in ("mine", "demo"):
        collect(tmp_path / name)
    assert not keep_tables(tmp_path / "demo", tmp_path / "mine")
    kept = tmp_path / "mine" / "sandbox" / "cache" / "excerpts" / "one.mp3"
    assert kept.read_bytes() == b"mine"


def test_an_interrupted_copy_is_no_home_and_is_made_again(tmp_path: Path) -> None:
    collect(tmp_path / "demo")
    partial = tmp_path / "data" / "sandbox" / "lake.partial"
    partial.mkdir(parents=True)
    (partial / "half").touch()
    assert keep_tables(tmp_path / "demo", tmp_path / "data")
    assert not partial.exists()
    assert not (tmp_path / "data" / "sandbox" / "lake" / "half").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    collect(tmp_path / "demo")
    (tmp_path / "file").touch()
    with pytest.raises(SametrackError, match="file cannot be written"):
        keep_tables(tmp_path / "demo", tmp_path / "file")
