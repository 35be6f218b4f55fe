"""The RO-Crate description of a data package: `ro-crate-metadata.json` of version 1.3.

Repositories read it: what each file is, its hash, which program made it, and when. The origin of a
single figure is in `queries.provenance`, because a package may leave out the hashes of bodies.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import orjson

from warehouse.exports.package_files import PackageFile, checksum_line

FILE_NAME = "ro-crate-metadata.json"
CHECKSUMS = "checksums.sha256"
_VERSION = "https://w3id.org/ro/crate/1.3"
RIGHTS = (
    "No licence is granted by this package. Rights in the observed content stay with its holders; "
    "the terms of the platform and the law of your country apply."
)
DEMO_RIGHTS = "Generated demo data: nothing in it is real, and anybody may use it for any purpose."


def rights_of(facts: Mapping[str, str]) -> str:
    """Return what readers may do with the data."""
    return DEMO_RIGHTS if facts["is_demo_data"] == "true" else RIGHTS


def published_at(facts: Mapping[str, str]) -> str:
    """Return the time of the data: that of the export, or the one that it shows."""
    return facts.get("exported_at") or facts["as_of"]


def describe_crate(facts: Mapping[str, str], files: Sequence[PackageFile], *, title: str) -> bytes:
    """Return the description of a package with these files, its checksums and itself."""
    parts = [*(_file(file) for file in files), _checksums(files)]
    crate: dict[str, object] = {
        "@id": "./",
        "@type": "Dataset",
        "name": title,
        "description": f"{facts['coverage_note']} {facts['method']}",
        "datePublished": published_at(facts),
        "license": {"@id": "#rights"},
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "mentions": {"@id": "#export"},
    }
    graph = [_descriptor(), crate, *parts, _rights(facts), _program(), _export(facts)]
    document = {"@context": f"{_VERSION}/context", "@graph": graph}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _descriptor() -> dict[str, object]:
    return {
        "@id": FILE_NAME,
        "@type": "CreativeWork",
        "conformsTo": {"@id": _VERSION},
        "about": {"@id": "./"},
    }


def _file(file: PackageFile) -> dict[str, object]:
    return {
        "@id": file.path,
        "@type": "File",
        "name": file.path.rpartition("/")[2],
        "description": file.description,
        "encodingFormat": file.media_type,
        "contentSize": str(file.size_bytes),
        "sha256": file.sha256,
    }


def _checksums(files: Sequence[PackageFile]) -> dict[str, object]:
    """Describe the file that contains the hash of this description, so its own is unknown."""
    names = [*(file.path for file in files), FILE_NAME]
    return {
        "@id": CHECKSUMS,
        "@type": "File",
        "name": CHECKSUMS,
        "description": "SHA-256 of every other file, for `sha256sum --check`.",
        "encodingFormat": "text/plain",
        "contentSize": str(sum(len(checksum_line("0" * 64, name).encode()) for name in names)),
    }


def _rights(facts: Mapping[str, str]) -> dict[str, object]:
    return {
        "@id": "#rights",
        "@type": "CreativeWork",
        "name": "Rights",
        "description": rights_of(facts),
    }


def _program() -> dict[str, object]:
    release = version("sametrack")
    return {
        "@id": "#sametrack",
        "@type": "SoftwareApplication",
        "name": "Sametrack",
        "url": f"pkg:generic/sametrack@{release}",  # a package URL, which names no host
        "version": release,
        "description": "Finds the public videos that use a recording, and confirms them by audio.",
    }


def _export(facts: Mapping[str, str]) -> dict[str, object]:
    action: dict[str, object] = {
        "@id": "#export",
        "@type": "CreateAction",
        "name": f"Export of {facts['scope']} from the world {facts['world']}",
        "description": facts["method"],
        "instrument": {"@id": "#sametrack"},
        "result": {"@id": "./"},
    }
    return action | ({"endTime": facts["exported_at"]} if "exported_at" in facts else {})
