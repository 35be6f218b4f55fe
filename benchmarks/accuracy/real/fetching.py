"""`make setup-bench-audio`: fetch the listed Debian packages and check the files of the list.

Packages are downloaded by `apt-get download` and unpacked into the folder of the bench: nothing is
installed, and no rights of root are needed. A package whose files are there is not fetched again.
"""

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from benchmarks.accuracy.real.library import (
    ListedFile,
    faults,
    is_intact,
    listed_files,
    packages,
)
from benchmarks.accuracy.sounds.tracks import RECORDINGS


def fetch(folder: Path, *, given: Path | None = None) -> list[str]:
    """Fetch what is missing, and return what still is missing or differs.

    Args:
        folder: Where the files go.
        given: A folder of packages that were downloaded before, used instead of the registry.
    """
    for package in packages():
        files = [file for file in listed_files() if file.package == package]
        if all(is_intact(file, folder) for file in files):
            continue
        print(f"{package}: {len(files)} files", flush=True)
        with tempfile.TemporaryDirectory(prefix="sametrack-recordings-") as name:
            archive = _downloaded(package, given or Path(name), is_given=given is not None)
            if archive is not None:
                unpack(archive, files, folder)
    return faults(folder)


def _downloaded(package: str, place: Path, *, is_given: bool) -> Path | None:
    if not is_given:
        command = ["apt-get", "download", "-q", package]
        ended = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)
        if ended.returncode:
            print(f"  apt-get cannot download {package}: {ended.stderr.strip()}", file=sys.stderr)
    return next(iter(sorted(place.glob(f"{package}_*.deb"))), None)


def unpack(archive: Path, files: list[ListedFile], folder: Path) -> None:
    """Write the listed files of a package below the folder."""
    wanted = {file.archive or file.path for file in files}
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as packed:
        assert packed.stdout is not None
        with tarfile.open(fileobj=packed.stdout, mode="r|") as tar:
            for member in tar:
                path = member.name.removeprefix("./")
                content = tar.extractfile(member) if path in wanted else None
                if content is not None:
                    _keep(path, content.read(), files, folder)


def _keep(path: str, content: bytes, files: list[ListedFile], folder: Path) -> None:
    for file in files:
        target = folder / file.place
        if file.path == path and not file.archive:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        elif file.archive == path:
            with zipfile.ZipFile(io.BytesIO(content)) as inner:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(inner.read(file.path))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=RECORDINGS)
    parser.add_argument("--packages", type=Path, help="a folder of packages downloaded before")
    options = parser.parse_args()
    lines = fetch(options.folder, given=options.packages)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        return 1
    print(f"{len(listed_files())} files of {len(packages())} packages are in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
