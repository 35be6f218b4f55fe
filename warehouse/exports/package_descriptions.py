"""Descriptions of a data package in standards, each of which its readers look for.

Citation File Format 1.2, for reference managers: how to cite the data. Croissant 1.1, for loaders
of data sets for machine learning: the Parquet files, and the meaning and type of each column. The
origin of a single figure is in `queries.provenance`, because a package may leave out the hashes of
bodies.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import orjson

from warehouse.exports.export_table import ExportColumn, ExportKind
from warehouse.exports.package_files import PackageFile, PackageTable

CROISSANT_FILE = "croissant.json"
CHECKSUMS = "checksums.sha256"
RIGHTS = (
    "No licence is granted by this package. Rights in the observed content stay with its holders; "
    "the terms of the platform and the law of your country apply."
)
DEMO_RIGHTS = "Generated demo data: nothing in it is real, and anybody may use it for any purpose."
_TYPES: dict[ExportKind, str] = {
    "text": "sc:Text", "whole": "sc:Integer", "real": "sc:Float", "flag": "sc:Boolean",
    "time": "sc:DateTime", "date": "sc:Date", "texts": "sc:Text",
}  # fmt: skip
_CONTEXT = Path(__file__).with_name("croissant_context.json")
"""The context of the standard, word for word: readers compare it."""


def rights_of(facts: Mapping[str, str]) -> str:
    """Return what readers may do with the data."""
    return DEMO_RIGHTS if facts["is_demo_data"] == "true" else RIGHTS


def version_of(facts: Mapping[str, str]) -> str:
    """Return the version of the data, which is the moment that it shows, as a semantic version."""
    moment = datetime.fromisoformat(facts["as_of"])
    return f"{moment.year}.{moment.month}.{moment.day}+T{moment:%H%M%S}Z"


def program() -> str:
    """Return the name and version of the program."""
    return f"Sametrack {version('sametrack')}"


def creator_of(facts: Mapping[str, str]) -> str:
    """Return who is named as the author: whom the export was told, else the program."""
    return facts.get("creator", program())


def contributors_of(facts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return who made the data, as Frictionless has it."""
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
    """Return the data as a citation in one line."""
    year = facts["as_of"][:4]
    return f"{creator_of(facts)} ({year}). {title}. Version {version_of(facts)} [data set]."


def describe_citation(facts: Mapping[str, str], *, title: str) -> bytes:
    """Return the file by which reference managers and repositories cite the package.

    It has no licence, because none is granted: the rights are in the abstract.
    """
    release = version("sametrack")
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
                "version": release,
                "authors": [{"name": "Sametrack contributors"}],
            }
        ],
    }
    # JSON strings are YAML strings, so no text can be read as something else
    lines = [f"{name}: {orjson.dumps(value).decode()}" for name, value in citation.items()]
    return "\n".join([*lines, ""]).encode()


def describe_croissant(
    facts: Mapping[str, str], tables: Sequence[PackageTable], *, title: str
) -> bytes:
    """Return the description of a package with these tables."""
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
        "distribution": [_file_object(table.parquet) for table in tables],
        "recordSet": [_record_set(table) for table in tables],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _file_object(file: PackageFile) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path.rpartition("/")[2],
        "description": file.description,
        "contentUrl": file.path,
        "contentSize": f"{file.size_bytes} B",
        "encodingFormat": "application/x-parquet",  # the name by which Croissant knows it
        "sha256": file.sha256,
    }


def _record_set(table: PackageTable) -> dict[str, object]:
    meanings = {column.name: column.meaning for column in table.contract.columns}
    found: dict[str, object] = {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"One row per {table.contract.row}.",
        "field": [_field(table, column, meanings[column.name]) for column in table.columns],
    }
    if table.key:
        found["key"] = [{"@id": f"{table.name}/{name}"} for name in table.key]
    return found


def _field(table: PackageTable, column: ExportColumn, meaning: str) -> dict[str, object]:
    found: dict[str, object] = {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": meaning,
        "dataType": _TYPES[column.kind],
        "source": {
            "fileObject": {"@id": table.parquet.path},
            "extract": {"column": column.name},
        },
    }
    key = next((one for one in table.foreign_keys if one.column == column.name), None)
    if key is not None:
        found["references"] = {"field": {"@id": f"{key.table}/{key.key}"}}
    return found | ({"isArray": True, "arrayShape": "-1"} if column.kind == "texts" else {})
