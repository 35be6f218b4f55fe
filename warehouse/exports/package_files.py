"""Files of a data package with what its descriptions say about each: hash, size, columns."""

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.exports.export_table import ExportColumn
from warehouse.tables import Table

_EPOCH = (2000, 1, 1, 0, 0, 0)  # a fixed date keeps the bytes of a ZIP reproducible


@dataclass(frozen=True, slots=True)
class PackageFile:
    """One file of a package."""

    path: str
    description: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A column whose values are keys of another table.

    `table`: its name in file names and descriptions. `outside_count`: values that it does not have;
    `why`, if the data dictionary says so.
    """

    column: str
    table: str
    key: str
    outside_count: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class PackageTable:
    """One table of a package: its exported columns, and its rows as CSV and as Parquet.

    `references`: the columns that refer to other tables of the package.
    """

    contract: Table
    columns: Sequence[ExportColumn]
    row_count: int
    csv: PackageFile
    parquet: PackageFile
    references: Sequence[ForeignKey] = ()

    @property
    def name(self) -> str:
        """Name in file names and descriptions."""
        return file_name(self.contract)

    @property
    def foreign_keys(self) -> list[ForeignKey]:
        """References of which every value is in the package."""
        return [reference for reference in self.references if reference.outside_count == 0]

    @property
    def key(self) -> tuple[str, ...]:
        """Columns that identify a row; empty if one of them is not exported."""
        names = {column.name for column in self.columns}
        return self.contract.key if names.issuperset(self.contract.key) else ()


def file_name(table: Table) -> str:
    """Return the name of a table in file names and descriptions."""
    return table.name.replace(".", "_")


class PackageArchive:
    """A ZIP file that remembers what was added to it."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.files: list[PackageFile] = []

    def add(self, path: str, content: str | bytes, description: str) -> PackageFile:
        """Add a file."""
        body = content.encode() if isinstance(content, str) else content
        info = zipfile.ZipInfo(path, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        with self._archive.open(info, "w") as entry:
            entry.write(body)
        digest = hashlib.sha256(body).hexdigest()
        added = PackageFile(path, description, digest, len(body))
        self.files.append(added)
        return added

    def checksums(self) -> str:
        """Return the checksums in the format of `sha256sum --check`."""
        return "".join(f"{file.sha256}  {file.path}\n" for file in self.files)
