"""Relative settings count from the workspace, so that a notebook may be in any folder of it."""

from pathlib import Path

import pytest

from warehouse.analysis.address import find_workspace, read_address_settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA_HOME", "PROFILE", "DATA_PROVIDER", "LAKE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "warehouse" / "data").mkdir(parents=True)
    (tmp_path / "notebooks" / "explore").mkdir(parents=True)
    return tmp_path


def test_a_folder_inside_belongs_to_the_workspace(workspace: Path) -> None:
    assert find_workspace(workspace / "notebooks" / "explore") == workspace
    assert find_workspace(workspace) == workspace


def test_the_checkout_is_a_workspace_before_anything_was_collected() -> None:
    assert find_workspace(ROOT / "notebooks" / "explore") == ROOT


def test_elsewhere_the_folder_itself_is_it(tmp_path: Path) -> None:
    assert find_workspace(tmp_path) == tmp_path


def test_an_env_file_or_data_home_keeps_the_folder(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = workspace / "notebooks" / "explore"
    monkeypatch.setenv("DATA_HOME", "elsewhere")
    assert find_workspace(inside) == inside
    monkeypatch.delenv("DATA_HOME")
    (inside / ".env").write_text("PROFILE=mock\n")
    assert find_workspace(inside) == inside


def test_the_env_file_of_the_workspace_counts_inside_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / ".env").write_text("PROFILE=sandbox\nDATA_HOME=stores\n")
    monkeypatch.chdir(workspace / "notebooks")
    found = read_address_settings()
    assert (found.profile, found.data_home) == ("sandbox", workspace / "stores")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("", ""),
        ("lake", "{workspace}/lake"),
        ("/else/lake", "/else/lake"),
        ("s3://a/b", "s3://a/b"),
    ],
)
def test_a_relative_lake_is_in_the_workspace(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, written: str, meant: str
) -> None:
    (workspace / ".env").write_text(f"PROFILE=sandbox\nLAKE_URL={written}\n")
    monkeypatch.chdir(workspace / "notebooks")
    assert read_address_settings().lake_url == meant.format(workspace=workspace)
