"""Licences of what is handed on: read from metadata, judged as SPDX expressions."""

from email.message import Message
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import pytest

from deploy.supply.licences import is_permitted, licence_of, locked, read_licences, write_licences

LOCK = """\
one==1.2 \\
    --hash=sha256:00
two-three==4.5 ; sys_platform == 'win32' \\
    --hash=sha256:00
Four.Five==6 ; python_version >= '3' \\
    --hash=sha256:00
"""


class FakePackage:
    """A package with these headers in its metadata, and these files."""

    def __init__(self, *headers: tuple[str, str], files: tuple[str, ...] = ()) -> None:
        self.metadata = Message()
        for name, value in headers:
            self.metadata[name] = value
        self.files = [Path(name) for name in files]


def package(*headers: tuple[str, str], files: tuple[str, ...] = ()) -> Distribution:
    made: Any = FakePackage(*headers, files=files)
    return made  # type: ignore[no-any-return]  # has what is read


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True), ("MIT OR GPL-3.0-only", True), ("MIT AND GPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True), ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("AGPL-3.0-only", False), ("Proprietary", False), ("LGPL-3.0-only", True),
    ],
)  # fmt: skip
def test_of_an_or_one_part_must_be_permitted_and_of_an_and_each(
    expression: str, expected: bool
) -> None:
    assert is_permitted(expression) is expected


def test_an_expression_goes_before_classifiers_and_these_before_a_text() -> None:
    old = ("Classifier", "License :: OSI Approved :: MIT License")
    assert licence_of(package(("License-Expression", "ISC"), old)) == "ISC"
    assert licence_of(package(old, ("License", "see the file"))) == "MIT"
    assert licence_of(package(("License", "MPL-2.0 AND MIT"))) == "MPL-2.0 AND MIT"
    assert licence_of(package(("License", "Copyright somebody"))) is None
    assert licence_of(package()) is None


def test_several_licences_in_classifiers_are_a_choice() -> None:
    gpl = "License :: OSI Approved :: GNU General Public License (GPL)"
    choice = package(
        ("Classifier", "License :: OSI Approved :: Artistic License"), ("Classifier", gpl)
    )
    assert licence_of(choice) == "Artistic-1.0 OR GPL"


def test_packages_of_other_systems_are_left_out() -> None:
    assert list(locked(LOCK)) == [("one", "1.2"), ("four-five", "6")]


def test_licence_of_a_package_that_is_not_installed_is_unknown() -> None:
    here = {"one": package(("License-Expression", "MIT"), files=("one.libs/libx264-d6.so.165",))}
    one, other = read_licences(LOCK, here)
    assert (one.licence, one.bundled, one.is_permitted) == (
        "MIT",
        "libx264 (GPL-2.0-or-later)",
        True,
    )
    assert (other.package, other.licence, other.is_permitted) == ("four-five", None, False)


def test_the_list_is_a_table(tmp_path: Path) -> None:
    here = {"one": package(("License-Expression", "MIT"))}
    write_licences(read_licences(LOCK, here), tmp_path / "list.csv")
    assert (tmp_path / "list.csv").read_text().splitlines() == [
        "package,version,licence,bundled", "one,1.2,MIT,", "four-five,6,,",
    ]  # fmt: skip
