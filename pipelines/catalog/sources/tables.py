"""Read the lines of an import from a file: CSV, a spreadsheet, or plain text with one track a line.

A first line that names a known column is the header. Without one, the first column is the track.
In a `.txt` file a whole line is one, because the text of a shared link may hold commas.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Self

from pipelines.catalog.rules import importing
from pipelines.catalog.sources.spreadsheet import limited_rows, read_first_sheet
from warehouse.input_files import check_file
from warehouse.records.errors import InvalidParameterError

_FORMS_HINT = "give a CSV, TSV or XLSX file, a text file with one track a line, or links and ids"
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_ROW_CHARS = 500_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_DELIMITERS = ",;\t"
COLUMN_NAMES = frozenset(
    {
        *importing.INPUT_COLUMNS,
        *importing.TITLE_COLUMNS,
        *importing.ARTIST_COLUMNS,
        *importing.PRIORITY_COLUMNS,
    }
)

type NumberedRow = tuple[int, list[str]]


def read_lines(path: Path) -> list[importing.ImportLine]:
    """Return the lines of a file.

    Raises:
        InvalidParameterError: The file cannot be read, is too large, or not in a supported format.
    """
    check_file(path, hint=_FORMS_HINT)
    try:
        # The size first, so that a huge file is not read.
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_FILE_BYTES else b""
    except OSError as error:
        raise InvalidParameterError(f"{path.name} cannot be read: {error.strerror}") from error
    if size > MAX_FILE_BYTES:
        raise InvalidParameterError(
            f"{path.name} has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read"
        )
    return parse_table(data, name=path.name)


def parse_table(data: bytes, *, name: str) -> list[importing.ImportLine]:
    """Return the lines of a table; the suffix of `name` tells text from a spreadsheet.

    Raises:
        InvalidParameterError: The data is not in a supported format.
    """
    suffix = Path(name).suffix.lower()
    if suffix in {".xls", ".ods", ".numbers"}:
        raise InvalidParameterError(
            f"{name} is no CSV and no XLSX file",
            hint="Save the table as XLSX or as CSV (UTF-8)",
        )
    is_spreadsheet = suffix == ".xlsx" or data.startswith(b"PK\x03\x04")
    if is_spreadsheet:
        return _to_lines(list(read_first_sheet(data, name=name)))
    try:
        return _to_lines(list(limited_rows(_text_rows(data, name))))
    except ValueError as error:
        raise InvalidParameterError(
            f"{name} cannot be read: {error}", hint="Import it in several files"
        ) from error


def link_lines(texts: Iterable[str]) -> list[importing.ImportLine]:
    """Return a line for each text, such as the arguments of a command."""
    return [
        importing.ImportLine(number=number, values={importing.INPUT_COLUMNS[0]: text})
        for number, text in enumerate(texts, 1)
    ]


def _text_rows(data: bytes, name: str) -> Iterator[NumberedRow]:
    # Spreadsheet programs save "Unicode text" as UTF-16, and UTF-8 with a byte order mark.
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidParameterError(
            f"{name} is not UTF-8 (byte {error.start})", hint="Save it as CSV UTF-8 or as XLSX"
        ) from error
    if "\0" in text:
        raise InvalidParameterError(f"{name} is no text file", hint="Give a CSV or an XLSX file")
    if name.lower().endswith(".txt"):
        lines = (line.rstrip("\r\n") for line in _RowText(text, reset_by_line=True))
        yield from ((number, [line]) for number, line in enumerate(lines, 1))
    else:
        yield from _delimited_rows(text, name)


def _delimited_rows(text: str, name: str) -> Iterator[NumberedRow]:
    # The delimiter that the first line has most often.
    first = text[:MAX_ROW_CHARS].lstrip("\r\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    lines = _RowText(text)
    # A blank row is added at the end: if a quotation mark is open there, the reader takes it as
    # part of the last row instead of ending the table.
    reader = csv.reader(chain(lines, "\n"), delimiter=delimiter)
    last_line, row = 0, list[str]()
    try:
        for row in reader:
            if reader.line_num > lines.count:
                break
            yield last_line + 1, row  # a quoted value may span lines: the row begins at the first
            last_line = reader.line_num
            lines.begin_row()
    except csv.Error as error:
        raise InvalidParameterError(f"{name}, line {reader.line_num}: {error}") from error
    if row:  # the last row contains all lines behind the open quotation mark
        raise InvalidParameterError(
            f"{name}, line {last_line + 1}: a quotation mark is not closed",
            hint="Close it, or write it twice within quotation marks",
        )


class _RowText:
    """Iterates over the lines of a text, counts them, and refuses rows over `MAX_ROW_CHARS`.

    A row is held in memory as a whole, and a quoted value may span any number of lines.
    """

    def __init__(self, text: str, *, reset_by_line: bool = False) -> None:
        self._lines = _LINE.finditer(text)
        self._reset_by_line = reset_by_line
        self._chars = 0
        self.count = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = next(self._lines)[0]
        self.count += 1
        self._chars = len(line) if self._reset_by_line else self._chars + len(line)
        if self._chars > MAX_ROW_CHARS:
            raise ValueError(f"a row has more than {MAX_ROW_CHARS:,} characters")
        return line

    def begin_row(self) -> None:
        """Start counting the characters of the next row."""
        self._chars = 0


def _to_lines(rows: Sequence[NumberedRow]) -> list[importing.ImportLine]:
    filled = [row for row in rows if any(value.strip() for value in row[1])]
    if not filled:
        return []
    # The first row is a header if it names a known column; each of its names is used once.
    first = filled[0][1]
    has_header = any(name.casefold().strip().replace(" ", "_") in COLUMN_NAMES for name in first)
    names, body = [importing.INPUT_COLUMNS[0]], filled
    if has_header:
        names, body = list[str](), filled[1:]
        for place, title in enumerate(first, 1):
            name = title.strip() or f"column_{place}"
            names.append(name if name not in names else f"{name}_{place}")
    lines = []
    for number, row in body:
        # A row may be longer than the header; its further columns are numbered.
        numbered = [f"column_{place}" for place in range(len(names) + 1, len(row) + 1)]
        cells = zip([*names, *numbered], row, strict=False)
        values = {name: value for name, value in cells if value.strip() or not has_header}
        lines.append(importing.ImportLine(number=number, values=values))
    return lines
