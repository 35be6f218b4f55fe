"""Read the cells of the first sheet of an XLSX file as text.

The library reads a workbook as a whole and makes a table of all cells between the first and the
last, so what would fill the memory is refused before it sees the file. Formulas are not evaluated:
their stored values are read.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from xml.parsers import expat

from python_calamine import CalamineError, CalamineWorkbook

from warehouse.records.errors import InvalidParameterError

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
