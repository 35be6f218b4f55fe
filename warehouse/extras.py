"""Extras of the installation: what each brings, and what to say where one is missing.

The plain wheel is enough to scan and to read results; an extra serves one feature more. The names
are those of `pyproject.toml`; `s3` brings nothing that is not installed anyway.
"""

from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec

from warehouse.records.errors import InvalidParameterError, SametrackError

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "analysis": (
        "altair", "ipykernel", "jupyterlab", "librosa", "markdown_it", "nbformat",
        "pandas", "papermill", "polars", "vl_convert",
    ),
    "browser": ("playwright",),
    "celery": ("celery", "dagster_celery"),
    "mobileapp": ("adbutils",),
    "postgres": ("dagster_postgres", "psycopg"),
    "telemetry": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"),
}  # fmt: skip
"""Libraries of each extra, by the names that programs import."""


def install_hint(extra: str) -> str:
    """Return how an extra is installed: from the wheel, because no package index has Sametrack."""
    wheel = f"sametrack-{version('sametrack')}-py3-none-any.whl"
    return (
        f"install the extra from the wheel of this version: `pip install './{wheel}[{extra}]'`; "
        "in a checkout `make env` installs all"
    )


def missing_libraries(extra: str) -> list[str]:
    """Return the libraries of an extra that are not installed; none is loaded."""
    return [library for library in EXTRAS[extra] if not _is_installed(library)]


def need_extra(
    extra: str, feature: str, *, error: type[SametrackError] = InvalidParameterError
) -> None:
    """Stop before a feature whose extra is not installed.

    Args:
        extra: Name of the extra.
        feature: What needs it, as the subject of a sentence.
        error: Class of the error.

    Raises:
        SametrackError: Of the class `error`; the hint says how to install the extra.
    """
    missing = missing_libraries(extra)
    if missing:
        raise error(
            f"{feature} needs the extra {extra!r}; not installed: {', '.join(missing)}",
            hint=install_hint(extra),
        )


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # a package that would contain it is missing
        return False
