"""Descriptions of a data package in three standards.

Frictionless: the CSV files, for data tools. Citation File Format 1.2, for reference managers: how
to cite the data. Croissant 1.1, for loaders of data sets for machine learning: the Parquet files,
and the meaning and type of each column. The origin of a single figure is in `queries.provenance`,
because a package may leave out the hashes of bodies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import orjson

from warehouse.exports.export_table import ExportColumn, ExportKind
from warehouse.tables import Table
from warehouse.tables.column import TEXT

CROISSANT_FILE = "croissant.json"
CHECKSUMS = "checksums.sha256"
RIGHTS = (
    "No licence is granted by this package. Rights in the observed content stay with its holders; "
    "the terms of the platform and the law of your country apply."
)
DEMO_RIGHTS = "Generated demo data: nothing in it is real, and anybody may use it for any purpose."
_TYPES: dict[ExportKind, tuple[str, str]] = {
    "text": ("string", "sc:Text"),
    "whole": ("integer", "sc:Integer"),
    "real": ("number", "sc:Float"),
    "flag": ("boolean", "sc:Boolean"),
    "time": ("datetime", "sc:DateTime"),
    "date": ("date", "sc:Date"),
    "texts": ("array", "sc:Text"),
}
"""The type of a column in Frictionless and in Croissant."""
_CONTEXT = Path(__file__).with_name("croissant_context.json")
"""The context of the standard, word for word: readers compare it."""


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file of a package."""

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
    """A table of a package: its exported columns, and its rows as CSV and as Parquet.

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
    """Return the name of a table in file names and descriptions: `marts_rankings`."""
    return table.name.replace(".", "_")


def rights_of(facts: Mapping[str, str]) -> str:
    """Return what readers may do with the data."""
    return DEMO_RIGHTS if facts["is_demo_data"] == "true" else RIGHTS


def version_of(facts: Mapping[str, str]) -> str:
    """Return the version of the data, its `as_of` as a semantic version: `2026.3.1+T120000Z`."""
    moment = datetime.fromisoformat(facts["as_of"])
    return f"{moment.year}.{moment.month}.{moment.day}+T{moment:%H%M%S}Z"


def program() -> str:
    """Return the name and version of the program."""
    return f"Sametrack {version('sametrack')}"


def creator_of(facts: Mapping[str, str]) -> str:
    """Return the author: the creator that the export names, else the program."""
    return facts.get("creator", program())


def contributors_of(facts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return who created the data, as Frictionless has it."""
    tool = {"title": program(), "role": "wrangler"}
    return [{"title": creator_of(facts), "role": "author"}, *([tool] if "creator" in facts else [])]


def sources_of(facts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return where the data come from, as Frictionless has it."""
    world = facts["world"]
    if facts["is_demo_data"] == "true":
        return [{"title": f"Generated demo data of Sametrack (world {world})"}]
    return [
        {"title": f"Public pages of the short-video platform as a guest sees them (world {world})"},
        {"title": "Public history of a music chart, in the tables of the chart"},
    ]


def citation_of(facts: Mapping[str, str], *, title: str) -> str:
    """Return the citation of the data in one line."""
    year = facts["as_of"][:4]
    return f"{creator_of(facts)} ({year}). {title}. Version {version_of(facts)} [data set]."


def describe_citation(facts: Mapping[str, str], *, title: str) -> bytes:
    """Return `CITATION.cff`, from which reference managers and repositories cite the package.

    It has no licence, because none is granted: the rights are in the abstract.
    """
    citation = {
        "cff-version": "1.2.0",
        "message": "If you use this data set, please cite it with its version.",
        "type": "dataset",
        "title": title,
        "abstract": f"{facts['coverage_note']} {facts['method']} {rights_of(facts)}",
        "authors": [{"name": creator_of(facts)}],
        "version": version_of(facts),
        "date-released": facts["as_of"][:10],
        "references": [
            {
                "type": "software",
                "title": "Sametrack",
                "version": version("sametrack"),
                "authors": [{"name": "Sametrack contributors"}],
            }
        ],
    }
    # JSON strings are YAML strings, so a title like `yes` or `1.0` stays text.
    lines = [f"{name}: {orjson.dumps(value).decode()}" for name, value in citation.items()]
    return "\n".join([*lines, ""]).encode()


def describe_frictionless(
    facts: Mapping[str, str], tables: Sequence[PackageTable], *, title: str
) -> bytes:
    """Return `datapackage.json`: the CSV files with schema, keys and checksums."""
    descriptor: dict[str, object] = {
        "profile": "tabular-data-package",
        "name": "sametrack-demo" if facts["is_demo_data"] == "true" else "sametrack",
        "title": title,
        "description": f"{facts['coverage_note']} {facts['method']}",
        "version": version_of(facts),
        "created": facts["as_of"],
        "citation": citation_of(facts, title=title),
        "rights": rights_of(facts),
        "licenses": [{"title": rights_of(facts), "path": "README.md"}],
        "sources": sources_of(facts),
        "contributors": contributors_of(facts),
        "sametrack": facts,
        "resources": [
            {
                "name": table.name,
                "path": table.csv.path,
                "description": table.csv.description,
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "bytes": table.csv.size_bytes,
                "hash": f"sha256:{table.csv.sha256}",
                "schema": _frictionless_schema(table),
            }
            for table in tables
        ],
    }
    return orjson.dumps(descriptor, option=orjson.OPT_INDENT_2)


def _frictionless_schema(table: PackageTable) -> dict[str, object]:
    """Return a table schema, with the contract's descriptions and units."""
    by_name = {column.name: column for column in table.contract.columns}
    fields = []
    for column in table.columns:
        contract = by_name[column.name]
        field: dict[str, object] = {
            "name": column.name,
            "type": _TYPES[column.kind][0],
            "description": contract.meaning,
        }
        if contract.unit:
            field["unit"] = contract.unit
        if contract.required:
            field["constraints"] = {"required": True}
            if contract.type == TEXT:
                # A required text may be empty: here an empty cell is a value, not unknown.
                field["missingValues"] = []
        if column.kind == "flag":
            field |= {"trueValues": ["True"], "falseValues": ["False"]}
        fields.append(field)
    schema: dict[str, object] = {"fields": fields, "missingValues": [""]}
    if table.key:
        schema["primaryKey"] = list(table.key)
    if table.foreign_keys:
        schema["foreignKeys"] = [
            {"fields": [key.column], "reference": {"resource": key.table, "fields": [key.key]}}
            for key in table.foreign_keys
        ]
    return schema


def describe_croissant(
    facts: Mapping[str, str], tables: Sequence[PackageTable], *, title: str
) -> bytes:
    """Return `croissant.json`: the Parquet files, and the meaning and type of each column."""
    document: dict[str, object] = {
        "@context": orjson.loads(_CONTEXT.read_bytes()),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": title,
        "description": f"{facts['coverage_note']} {facts['method']}",
        "license": rights_of(facts),
        "datePublished": facts["as_of"],
        "version": version_of(facts),
        "creator": {"@type": "sc:Organization", "name": creator_of(facts)},
        "citeAs": citation_of(facts, title=title),
        "isBasedOn": [source["title"] for source in sources_of(facts)],
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": table.parquet.path,
                "name": table.parquet.path.rpartition("/")[2],
                "description": table.parquet.description,
                "contentUrl": table.parquet.path,
                "contentSize": f"{table.parquet.size_bytes} B",
                # Croissant knows Parquet by this name, not by its registered media type.
                "encodingFormat": "application/x-parquet",
                "sha256": table.parquet.sha256,
            }
            for table in tables
        ],
        "recordSet": [_record_set(table) for table in tables],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _record_set(table: PackageTable) -> dict[str, object]:
    meanings = {column.name: column.meaning for column in table.contract.columns}
    targets = {key.column: f"{key.table}/{key.key}" for key in reversed(table.foreign_keys)}
    fields = []
    for column in table.columns:
        field: dict[str, object] = {
            "@type": "cr:Field",
            "@id": f"{table.name}/{column.name}",
            "name": column.name,
            "description": meanings[column.name],
            "dataType": _TYPES[column.kind][1],
            "source": {
                "fileObject": {"@id": table.parquet.path},
                "extract": {"column": column.name},
            },
        }
        if column.name in targets:
            field["references"] = {"field": {"@id": targets[column.name]}}
        if column.kind == "texts":
            field |= {"isArray": True, "arrayShape": "-1"}
        fields.append(field)
    record_set: dict[str, object] = {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"One row per {table.contract.row}.",
        "field": fields,
    }
    if table.key:
        record_set["key"] = [{"@id": f"{table.name}/{name}"} for name in table.key]
    return record_set
