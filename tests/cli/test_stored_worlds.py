"""Commands that only read what is stored open the only world of the data home without PROFILE."""

from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands.analysis.notebook import _choose_data
from api.cli.main import app
from pipelines.platform.providers import choose_stored_world
from pipelines.settings import Settings
from warehouse.control import open_control
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import ProfileNotChosenError, SametrackError

pytestmark = pytest.mark.full

READING = (
    ("jobs",),
    ("jobs", "show", "0a"),
    ("sql", "select 1"),
    ("query", "top-videos"),
    ("export", "rankings"),
    ("export", "rankings", "--job", "0a"),
    ("database",),
    ("trace", "0a"),
    ("report", "0a000000"),
    ("watchlist", "list"),
    ("watchlist", "runs", "songs"),
    ("watchlist", "digest", "songs"),
    ("catalog", "list"),
    ("catalog", "status", "songs"),
    ("catalog", "report", "songs"),
    ("chart", "links"),
    ("chart", "song", "hash:1"),
    ("audio", "annotations"),
    ("audio", "explain", "0a"),
    ("audio", "common-sounds"),
    ("replay",),
    ("backup", "copy"),
)
WRITING = (
    ("watchlist", "add", "songs", "--track", "7348759830572834348"),
    ("watchlist", "remove", "songs"),
    ("catalog", "import", "songs", "7348759830572834348"),
    ("catalog", "match", "songs"),
    ("chart", "link", "hash:1", "7348759830572834348"),
    ("chart", "judge"),
    ("audio", "annotate", "0a", "same"),
    ("audio", "dismiss-sound", "0a"),
    ("replay", "--write"),
    ("maintain",),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PROFILE", "DATA_PROVIDER", "DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def store(folder: Path, *worlds: str) -> None:
    for world in worlds:
        home = open_home(folder / "warehouse" / "data", world)
        open_lake(home.lake_url, world=world)
        with closing(open_control(home.control_url, world=world)):
            pass


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def problem(done: Result) -> str:
    """Return the type and the text of the error of a command; empty without one."""
    error = done.exception
    if isinstance(error, SametrackError):
        return f"{error.type}: {error.detail} {error.hint}"
    assert error is None or isinstance(error, SystemExit), repr(error)
    return ""


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_commands_open_the_only_world_without_a_profile(
    words: tuple[str, ...], folder: Path
) -> None:
    store(folder, "sandbox")
    assert "profile_not_chosen" not in problem(run(*words))


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_commands_name_the_worlds_if_there_are_several(
    words: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(folder, "public", "sandbox")
    text = problem(run(*words))
    assert text.startswith("profile_not_chosen: 'warehouse/data' has the data of several profiles")
    assert "public, sandbox" in text
    assert "PROFILE=public" in text
    monkeypatch.setenv("PROFILE", "sandbox")
    assert "profile_not_chosen" not in problem(run(*words))


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_commands_that_write_require_a_profile(words: tuple[str, ...], folder: Path) -> None:
    store(folder, "sandbox")
    assert problem(run(*words)).startswith("profile_not_chosen")


def test_reading_commands_without_data_name_the_demo(folder: Path) -> None:
    assert "`sametrack demo`" in problem(run("jobs"))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("world", "setting"),
    [("public", "profile"), ("mock", "data_provider"), ("file", "data_provider")],
)
def test_each_world_is_chosen_by_the_setting_that_it_has(
    world: str, setting: str, folder: Path
) -> None:
    store(folder, world)
    assert getattr(choose_stored_world(Settings()), setting) == world


def test_the_world_of_an_own_profile_needs_its_file(folder: Path) -> None:
    store(folder, "mirror")
    with pytest.raises(ProfileNotChosenError, match="'mirror', a profile of your own"):
        choose_stored_world(Settings())


def test_notebooks_read_the_only_world_too(folder: Path) -> None:
    assert _choose_data()["PROFILE"] == "sandbox"
    store(folder, "public")
    assert _choose_data()["PROFILE"] == "public"
    store(folder, "sandbox")
    with pytest.raises(ProfileNotChosenError, match="public, sandbox"):
        _choose_data()
