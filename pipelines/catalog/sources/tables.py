"""Read the lines of an import from a file: CSV, a spreadsheet, or plain text with one track a line.

A first line that names a known column is the header. Without one, the first column is the track.
In a `.txt` file a whole line is one, because the text of a shared link may hold commas.
"""

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Self
from xml.parsers import expat

from python_calamine import CalamineError, CalamineWorkbook

from pipelines.catalog import rules
from warehouse.files import check_file
from warehouse.records.errors import InvalidParameterError

_FORMS_HINT = "give a CSV, TSV or XLSX file, a text file with one track a line, or links and ids"
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_ROW_CHARS = 500_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_DELIMITERS = ",;\t"
COLUMN_NAMES = frozenset(
    {
        *rules.INPUT_COLUMNS,
        *rules.TITLE_COLUMNS,
        *rules.ARTIST_COLUMNS,
        *rules.PRIORITY_COLUMNS,
    }
)

type NumberedRow = tuple[int, list[str]]


def read_lines(path: Path) -> list[rules.ImportLine]:
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


def parse_table(data: bytes, *, name: str) -> list[rules.ImportLine]:
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


def link_lines(texts: Iterable[str]) -> list[rules.ImportLine]:
    """Return a line for each text, such as the arguments of a command."""
    return [
        rules.ImportLine(number=number, values={rules.INPUT_COLUMNS[0]: text})
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


def _to_lines(rows: Sequence[NumberedRow]) -> list[rules.ImportLine]:
    filled = [row for row in rows if any(value.strip() for value in row[1])]
    if not filled:
        return []
    # The first row is a header if it names a known column; each of its names is used once.
    first = filled[0][1]
    has_header = any(name.casefold().strip().replace(" ", "_") in COLUMN_NAMES for name in first)
    names, body = [rules.INPUT_COLUMNS[0]], filled
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
        lines.append(rules.ImportLine(number=number, values=values))
    return lines


# Read the cells of the first sheet of an XLSX file as text.
#
# The library reads a workbook as a whole and makes a table of all cells between the first and the
# last, so what would fill the memory is refused before it sees the file. Formulas are not
# evaluated: their stored values are read.

MAX_PART_BYTES = 16 * 1024 * 1024
MAX_PARTS_BYTES = 4 * MAX_PART_BYTES
MAX_COLUMNS = 200
MAX_ROWS = 100_000
MAX_CELLS = 400_000
"""Filled cells of a table. Memory for a whole table is a hundred bytes a cell."""
MAX_AREA = 1_500_000
"""Cells between the first and the last that is filled: the library takes 24 bytes for each."""
MAX_CHARS = 8_000_000
MAX_DEPTH = 50
LARGEST_EXACT = 2**53 - 1
_CELL = re.compile(r"([A-Z]+)([0-9]+)", re.IGNORECASE)
_READ = re.compile(r"(xl|_rels)/.*\.(xml|rels)")
_UNREADABLE = (
    CalamineError,
    zipfile.BadZipFile,
    zlib.error,
    expat.ExpatError,
    EOFError,
    LookupError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def limited_rows(rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield numbered rows up to the limits of a catalogue.

    Raises:
        ValueError: There are more rows, filled cells or characters.
    """
    cells = chars = 0
    for count, (number, values) in enumerate(rows, 1):
        filled = [value for value in values if value]
        cells += len(filled)
        chars += sum(map(len, filled))
        if count > MAX_ROWS or cells > MAX_CELLS or chars > MAX_CHARS:
            raise ValueError(
                f"it has more than {MAX_ROWS:,} rows, {MAX_CELLS:,} filled cells "
                f"or {MAX_CHARS:,} characters"
            )
        yield number, values


def read_first_sheet(data: bytes, *, name: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of the first sheet with their numbers; blank rows are absent.

    Raises:
        InvalidParameterError: The file is not an XLSX file, or is too large when unpacked.
    """
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(_checked(data))) as workbook:
            if not workbook.sheet_names:
                raise ValueError("it has no sheet")
            sheet = workbook.get_sheet_by_index(0)
            # The sheet begins with its first filled cell; the columns before it are blank.
            first_row, first_column = sheet.start or (0, 0)
            blank = [""] * min(first_column, MAX_COLUMNS)
            numbered = (
                (number, [*blank, *map(_text, row[: MAX_COLUMNS - len(blank)])])
                for number, row in enumerate(sheet.iter_rows(), first_row + 1)
            )
            rows = list(limited_rows((number, row) for number, row in numbered if any(row)))
    except _UNREADABLE as error:
        raise InvalidParameterError(
            f"{name} cannot be read as an XLSX file: {error}", hint="Save it as XLSX or CSV again"
        ) from error
    return iter(rows)


def _checked(data: bytes) -> bytes:
    """Return a copy of the workbook with only the parts that are read.

    Raises:
        ValueError: A part would take too much memory.
    """
    # The copy states the true size of each part, whatever the original declares.
    copy = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as checked,
    ):
        parts = {part.filename: part for part in archive.infolist() if _READ.match(part.filename)}
        if sum(part.file_size for part in parts.values()) > MAX_PARTS_BYTES:
            raise ValueError(f"it has more than {MAX_PARTS_BYTES >> 20} MB when unpacked")
        for name, part in parts.items():
            if part.file_size > MAX_PART_BYTES:
                raise ValueError(f"{name} has more than {MAX_PART_BYTES >> 20} MB when unpacked")
            text = archive.read(part)
            _check_extent(text, name)
            checked.writestr(name, text)
    return copy.getvalue()


def _check_extent(text: bytes, name: str) -> None:
    """Check a part of a workbook.

    Raises:
        ValueError: It declares a document type, nests elements too deeply, or its filled cells are
            too far apart.
    """
    row = column = depth = 0
    rows, columns = set[int](), set[int]()

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, depth
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"{name} has more than {MAX_DEPTH} elements in each other")
        match tag.rpartition(":")[2]:
            case "row":
                row, column = int(attributes.get("r") or row + 1), 0
            case "c":
                column += 1
                place = _CELL.fullmatch(attributes.get("r", ""))
                if place is not None:
                    row, column = int(place[2]), _column(place[1])
            case "v" | "is":
                rows.add(row)
                columns.add(column)

    def refuse(*_declaration: object) -> None:
        # No spreadsheet program writes one; entities in it could expand without limit.
        raise ValueError(f"{name} declares a document type")

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    # The library reads every part as UTF-8, whatever encoding the part declares.
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(text, True)
    if rows and (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1) > MAX_AREA:
        raise ValueError(f"the cells of {name} are too far apart: {MAX_AREA:,} may lie between")


def _column(letters: str) -> int:
    """Return the number of a column such as `AB`, from 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _text(value: object) -> str:
    """Return the value of a cell as text."""
    match value:
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) <= LARGEST_EXACT:
            return str(int(value))
        case float():
            # The exponent shows that digits are lost.
            return f"{value:E}" if abs(value) > LARGEST_EXACT else repr(value)
        case datetime():
            moment = (value + timedelta(seconds=0.5)).replace(microsecond=0)
            is_day = moment.time() == datetime.min.time()
            return moment.date().isoformat() if is_day else moment.isoformat()
        case date():
            return value.isoformat()
    return str(value)
