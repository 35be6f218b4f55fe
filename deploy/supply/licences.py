"""`python -m deploy.supply.licences LOCK LIST`: which locked packages may be handed on, by licence.

Sametrack is under Apache-2.0. Its wheel contains no other project's code; the image does, and who
hands an image on hands on all of it. Licences come from the metadata of the installed packages, not
from a registry. A package is refused if its licence is unknown, or forbids distribution beside
Apache-2.0.
"""

import csv
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OF_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "Artistic License": "Artistic-1.0",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU Library or Lesser General Public License (LGPL)": "LGPL",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Names of licences in old metadata; where there are several, one may choose."""
PERMITTED = frozenset({
    "0BSD", "Apache-2.0", "Artistic-1.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC",
    "LGPL", "LGPL-2.1-or-later", "LGPL-3.0-only", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0",
    "Python-2.0", "Unlicense", "Zlib",
})  # fmt: skip
"""LGPL and MPL, too: their libraries are separate files that anybody can replace."""
COPYLEFT_LIBRARIES = {"libx264": "GPL-2.0-or-later", "libx265": "GPL-2.0-or-later"}
"""Shared libraries inside wheels whose licence is stricter than that of the package around them."""
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?:\s*;\s*([^\\]+))?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """The licence of a package as an SPDX expression; None if its metadata name none.

    `bundled` are shared libraries in it that are under a licence of their own.
    """

    package: str
    version: str
    licence: str | None
    bundled: str = ""

    @property
    def is_permitted(self) -> bool:
        """Whether the package may be handed on beside Apache-2.0."""
        return self.licence is not None and is_permitted(self.licence)


def is_permitted(expression: str) -> bool:
    """Judge an SPDX expression: of an OR one part must be permitted, of an AND each."""
    bare = re.sub(r"\s+WITH\s+[\w.-]+", "", expression).replace("(", "").replace(")", "")
    return all(
        any(one.strip() in PERMITTED for one in part.split(" OR ")) for part in bare.split(" AND ")
    )


def licence_of(package: Distribution) -> str | None:
    """Return the licence of an installed package by its metadata; None if they name none."""
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classifiers = [str(one).rsplit(" :: ", 1)[-1] for one in metadata.get_all("Classifier") or ()]
    known = [OF_CLASSIFIERS[one] for one in classifiers if one in OF_CLASSIFIERS]
    if known:
        return " OR ".join(dict.fromkeys(known))
    text = str(metadata.get("License") or "").strip().partition("\n")[0]
    return _OF_TEXTS.get(text) or (text if is_permitted(text) else None)


_OF_TEXTS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "BSD 3-Clause OR Apache-2.0": "BSD-3-Clause OR Apache-2.0",
    "MIT License": "MIT",
}


def locked(lock: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of each package of a lock that this machine needs."""
    for name, version, marker in _PINNED.findall(lock):
        if not marker or Requirement(f"{name}; {marker}").marker.evaluate():  # type: ignore[union-attr]  # it has one
            yield str(canonicalize_name(name)), version


def read_licences(lock: str, installed: Mapping[str, Distribution]) -> list[Licence]:
    """Return the licences of the packages of a lock; an uninstalled one has none."""
    found = []
    for name, version in locked(lock):
        package = installed.get(name)
        found.append(
            Licence(
                package=name,
                version=version,
                licence=None if package is None else licence_of(package),
                bundled="" if package is None else "; ".join(_bundled(package)),
            )
        )
    return found


def installed_packages() -> dict[str, Distribution]:
    """Return the packages of this environment by their normalised names."""
    return {str(canonicalize_name(one.name)): one for one in distributions()}


def _bundled(package: Distribution) -> Iterator[str]:
    names = [file.name for file in package.files or ()]
    for library, licence in COPYLEFT_LIBRARIES.items():
        if any(name.startswith((f"{library}-", f"{library}.")) for name in names):
            yield f"{library} ({licence})"


def write_licences(found: list[Licence], target: Path) -> None:
    """Write the list as CSV."""
    with target.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.DictWriter(stream, ["package", "version", "licence", "bundled"])
        rows.writeheader()
        rows.writerows(asdict(one) for one in found)


def main(lock: Path, target: Path) -> int:
    """Write the list, print what is refused; 1 if anything is."""
    found = read_licences(lock.read_text(encoding="utf-8"), installed_packages())
    write_licences(found, target)
    refused = [one for one in found if not one.is_permitted]
    print(f"{len(found)} packages, {len(refused)} refused: {target}")  # noqa: T201 -- a command
    for one in (*refused, *(one for one in found if one.bundled)):
        print(f"  {one.package} {one.version}: {one.licence} {one.bundled}")  # noqa: T201 -- as above
    return 1 if refused else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2])))
