"""What `sametrack notebook` starts, and where the user's notebooks are."""

import json
from pathlib import Path

import pytest

from api.cli.commands.analysis import notebook as jupyter
from api.cli.main import main

ROOT = Path(__file__).parents[2]


def test_without_jupyterlab_one_line_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("warehouse.extras.missing_libraries", lambda extra: ["jupyterlab"])
    monkeypatch.setattr("sys.argv", ["sametrack", "notebook"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "-py3-none-any.whl[analysis]'`" in capsys.readouterr().err


def test_notebook_command_opens_first_steps_on_loopback_without_update_checks() -> None:
    command = jupyter.lab_command(ROOT / "notebooks", port=9000, is_shown=False)
    assert "--LabApp.default_url=/lab/tree/explore/first_steps.ipynb" in command
    assert "--ServerApp.open_browser=False" in command
    config = next(each for each in command if each.startswith("--config="))
    settings = json.loads(Path(config.removeprefix("--config=")).read_text())
    assert settings["ServerApp"]["ip"] == "127.0.0.1"
    assert "token" not in settings["ServerApp"]  # JupyterLab's own, new at each start
    assert settings["LabApp"]["news_url"] is None
    assert settings["LabApp"]["check_for_updates_class"] == "jupyterlab.NeverCheckForUpdate"


def test_a_checkout_opens_its_own_notebooks(tmp_path: Path) -> None:
    assert jupyter.find_notebooks(tmp_path) == ROOT / "notebooks"
    assert (ROOT / "notebooks" / jupyter.FIRST).is_file()


def test_an_installed_one_copies_them_once_and_keeps_what_the_user_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages" / "notebooks"
    (installed / "explore").mkdir(parents=True)
    for name in ("first_steps", "other"):
        (installed / "explore" / f"{name}.ipynb").write_text("new")
    monkeypatch.setattr(jupyter, "NOTEBOOKS", installed)
    own = tmp_path / "mine" / "notebooks" / "explore" / "other.ipynb"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    assert jupyter.find_notebooks(tmp_path / "mine") == tmp_path / "mine" / "notebooks"
    assert own.read_text() == "mine"
    assert own.with_name("first_steps.ipynb").read_text() == "new"


@pytest.mark.parametrize(
    ("platform", "display", "expected"),
    [("linux", "", False), ("linux", ":0", True), ("darwin", "", True)],
)
def test_a_browser_needs_a_display(
    monkeypatch: pytest.MonkeyPatch, platform: str, display: str, expected: bool
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert jupyter.may_open_browser() is expected
