"""The Croissant description of a data package: `croissant.json` of version 1.1.

Loaders of data sets for machine learning read it: the Parquet files, and the meaning and type of
each column.
"""

from collections.abc import Mapping, Sequence

import orjson

from warehouse.exports.export_table import ExportColumn, ExportKind
from warehouse.exports.package_files import PackageFile, PackageTable
from warehouse.exports.ro_crate import published_at, rights_of

FILE_NAME = "croissant.json"
_TYPES: dict[ExportKind, str] = {
    "text": "sc:Text", "whole": "sc:Integer", "real": "sc:Float", "flag": "sc:Boolean",
    "time": "sc:DateTime", "date": "sc:Date", "texts": "sc:Text",
}  # fmt: skip
_CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of the standard, word for word: readers compare it."""


def describe_croissant(
    facts: Mapping[str, str], tables: Sequence[PackageTable], *, title: str
) -> bytes:
    """Return the description of a package with these tables."""
    document: dict[str, object] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": title,
        "description": f"{facts['coverage_note']} {facts['method']}",
        "license": rights_of(facts),
        "datePublished": published_at(facts),
        "version": "1.0.0",
        "isLiveDataset": False,
        "distribution": [_file(table.parquet) for table in tables],
        "recordSet": [_record_set(table) for table in tables],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _file(file: PackageFile) -> dict[str, object]:
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
    return found | ({"isArray": True, "arrayShape": "-1"} if column.kind == "texts" else {})
