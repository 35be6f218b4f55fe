"""Where numba keeps what it compiled, if the folder beside the source is read-only."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.audio import compiled_cache
from pipelines.audio.compiled_cache import VARIABLE, choose_cache

INDEX, CODE = pickle.dumps("index"), pickle.dumps(b"code")


@pytest.fixture(autouse=True)
def no_folder_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "")  # so that it is as it was when the test ends
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A module with compiled code beside it."""
    compiled = tmp_path / "installed" / "__pycache__"
    compiled.mkdir(parents=True)
    (compiled / "kernels.one.nbi").write_bytes(INDEX)
    (compiled / "kernels.one.nbc").write_bytes(CODE)
    return tmp_path / "installed" / "kernels.py"


def writable(monkeypatch: pytest.MonkeyPatch, *places: Path) -> None:
    monkeypatch.setattr(compiled_cache, "_is_writable", lambda place: place in places)


def words_printed_by(code: str) -> list[str]:
    """Run code in a process of its own, since this one has loaded all of numba."""
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return told.stdout.split()


def test_a_writable_installation_keeps_it_beside_the_source(source: Path) -> None:
    choose_cache(source)
    assert VARIABLE not in os.environ


def test_a_chosen_folder_stays(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "chosen")
    writable(monkeypatch)
    choose_cache(source)
    assert os.environ[VARIABLE] == "chosen"


def test_under_a_read_only_root_what_is_compiled_is_copied_and_found_by_all_processes(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writable(monkeypatch)
    choose_cache(source)
    folder = Path(os.environ[VARIABLE])
    assert folder == tmp_path / f"sametrack-numba-{os.geteuid()}"
    assert folder.stat().st_mode & 0o077 == 0
    copied = {file.name: file.read_bytes() for file in folder.rglob("*.nb?")}
    assert copied == {"kernels.one.nbi": INDEX, "kernels.one.nbc": CODE}
    monkeypatch.delenv(VARIABLE)
    choose_cache(source)
    assert os.environ[VARIABLE] == str(folder)


def test_a_writable_home_is_preferred_because_it_outlives_the_machine(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    writable(monkeypatch, tmp_path)
    choose_cache(source)
    assert os.environ[VARIABLE] == str(tmp_path / ".cache" / "numba")


def test_a_folder_that_others_can_write_to_is_not_trusted(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / f"sametrack-numba-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    writable(monkeypatch)
    choose_cache(source)
    assert os.environ[VARIABLE] != str(planted)
    assert list(planted.iterdir()) == []


@pytest.mark.parametrize("damaged", [b"", CODE[:-3], b"garbage" * 10])
@pytest.mark.parametrize("is_installation_writable", [True, False])
def test_damaged_code_is_compiled_again(
    source: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes, is_installation_writable: bool
) -> None:
    beside = source.parent / "__pycache__"
    writable(monkeypatch, *([beside] if is_installation_writable else []))
    choose_cache(source)
    place = Path(os.environ.get(VARIABLE, beside))
    for folder in (place, beside):
        for file in folder.rglob("*.nbc"):
            file.write_bytes(damaged)
    choose_cache(source)
    assert [file.name for file in place.rglob("*.nb?")] == ["kernels.one.nbi"]


def test_comparing_loads_no_library_that_no_loop_uses_and_other_code_can_still_have_it() -> None:
    code = (
        "import sys, numpy as np\n"
        "from pipelines.audio.matching.verify import warm_up\n"
        "warm_up()\n"
        "print([one for one in ('scipy', 'pycparser', 'yaml') if one in sys.modules])\n"
        "import cffi, yaml, numba\n"
        "print(numba.njit(lambda one: np.dot(one, one))(2.0 * np.eye(3)).trace())\n"
    )
    assert words_printed_by(code) == ["[]", "12.0"]


def test_a_loop_that_is_compiled_loads_nothing_that_only_compiling_needs() -> None:
    code = (
        "import sys\n"
        "from pipelines.audio.matching.verify import warm_up\n"
        "warm_up()\n"
        "print('numba.typed.dictimpl' in sys.modules, 'numba.np.arrayobj' in sys.modules)\n"
        "import numba\n"
        "print(numba.njit(lambda text: {text: len(text)})('four')['four'])\n"
    )
    assert words_printed_by(code) == ["False", "True", "4"]


def test_comparing_reads_no_metadata_of_packages() -> None:
    code = (
        "import importlib.metadata\n"
        "importlib.metadata.entry_points = lambda *_, **__: print('read')\n"
        "from pipelines.audio.matching.verify import warm_up\n"
        "warm_up()\n"
    )
    assert words_printed_by(code) == []
