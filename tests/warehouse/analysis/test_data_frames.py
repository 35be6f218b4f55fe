"""Data frames of every table do what users of pandas do most."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.warehouse.lake_rows import to_row
from warehouse import open_warehouse
from warehouse.analysis.description import NAMES
from warehouse.analysis.warehouse import Warehouse
from warehouse.tables import RELATIONS, TABLES
from warehouse.tables.column import BOOLEAN, BYTES, DATE, FLOAT, INTEGER, TEXT, TEXT_LIST, TIME

pytestmark = pytest.mark.full

ID = "7361729694329545668"
VALUES: dict[Any, object] = {
    TEXT: ID, INTEGER: 1_760_000_000, FLOAT: 0.5, BOOLEAN: True, TEXT_LIST: [ID],
    TIME: datetime(2026, 10, 2, 12, tzinfo=UTC), DATE: date(2026, 10, 2),
}  # fmt: skip
DTYPES = {
    TEXT: "string", INTEGER: "Int64", FLOAT: "Float64", BOOLEAN: "boolean", TEXT_LIST: "object",
    TIME: "datetime64[us, UTC]", DATE: "datetime64[ms]",
}  # fmt: skip


@pytest.fixture(
    scope="module",
    params=["a row of each kind", pytest.param("first release", marks=pytest.mark.soak)],
)
def wh(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    first_release_home: Path,
    small_store_at: Callable[[Path], Any],
) -> Iterator[Warehouse]:
    """Every table with one complete row and one with nulls; and what real scans have left."""
    root = first_release_home
    if request.param != "first release":
        root = tmp_path_factory.mktemp("filled") / "data"
        lake = small_store_at(root).lake
        for table in TABLES:
            whole = {column.name: VALUES.get(column.type, b"") for column in table.columns}
            if "surface" in whole:
                whole |= {"surface": "video_page"}
            lake.append(table.name, [whole, to_row(table.name)])
    with open_warehouse(root / "sandbox") as opened:
        yield opened


@pytest.fixture(scope="module")
def frames(wh: Warehouse) -> dict[str, pd.DataFrame]:
    """Every table; those of `seen` have the columns of `raw`."""
    return {table.name: wh.table(table.name).df() for table in RELATIONS}


def columns_of(wh: Warehouse, name: str, kind: object) -> list[str]:
    return [column.name for column in wh.describe(name).columns if column.type == kind]


def of_kind(frame: pd.DataFrame, kind: str) -> list[str]:
    return [str(name) for name, dtype in frame.dtypes.items() if str(dtype).startswith(kind)]


def test_the_types_of_a_frame_are_those_of_its_columns(
    wh: Warehouse, frames: dict[str, pd.DataFrame]
) -> None:
    for name in NAMES:
        frame = frames[name] if name in frames else wh.table(name).df()
        columns = wh.describe(name).columns
        expected = {column.name: DTYPES.get(column.type, "object") for column in columns}
        assert {column: str(dtype) for column, dtype in frame.dtypes.items()} == expected, name
        for column in columns_of(wh, name, TEXT_LIST):
            assert {type(value) for value in frame[column].dropna()} <= {list}, (name, column)


def test_days_and_times_are_filtered_grouped_and_sorted(frames: dict[str, pd.DataFrame]) -> None:
    columns = [(name, at) for name, frame in frames.items() for at in of_kind(frame, "datetime64")]
    for name, at in columns:
        rest = frames[name].dropna(subset=at)
        if rest.empty:
            continue  # `resample` of pandas itself fails without rows
        place = f"{name}.{at}"
        assert len(rest[rest[at] >= "1970-01-01"]) == len(rest), place
        assert rest[rest[at] > "2200-01-01"].empty, place
        assert rest.resample("D", on=at).size().sum() == len(rest), place
        assert rest.groupby(pd.Grouper(key=at, freq="MS")).size().sum() == len(rest), place
        assert rest.sort_values(at)[at].is_monotonic_increasing, place


def test_rows_are_counted_summed_pivoted_and_merged_by_id(frames: dict[str, pd.DataFrame]) -> None:
    for name, frame in frames.items():
        numbers = [*of_kind(frame, "Int"), *of_kind(frame, "Float")]
        for key in of_kind(frame, "string")[:2]:
            place = f"{name}.{key}"
            assert frame[key].value_counts().sum() == frame[key].notna().sum(), place
            assert len(frame.merge(frame[[key]].drop_duplicates(), on=key)) == len(frame), place
            if numbers:
                sums = frame.groupby(key)[numbers[:2]].agg(["sum", "mean", "max"])
                assert len(sums) == frame[key].nunique(), place
                pivot = frame.pivot_table(index=key, values=numbers[0], aggfunc="sum")
                assert len(pivot) <= frame[key].nunique(), place
        assert frame.empty or len(frame.describe(include="all")) > 0, name


def test_csv_and_excel_files_are_written_and_read(
    wh: Warehouse, frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    for name, frame in frames.items():
        rows = frame.drop(columns=columns_of(wh, name, BYTES)).head(50)
        assert_the_same_from_files(rows, tmp_path, name)


def assert_the_same_from_files(frame: pd.DataFrame, folder: Path, table: str) -> None:
    texts, dates = of_kind(frame, "string"), of_kind(frame, "datetime64")
    are_texts: Any = dict.fromkeys(texts, "string")
    frame.to_csv(folder / "a.csv", index=False)
    naive = {
        str(name): frame[name].dt.tz_localize(None) for name in frame.select_dtypes("datetimetz")
    }
    frame.assign(**naive).to_excel(folder / "a.xlsx", index=False)
    read = (
        pd.read_csv(folder / "a.csv", dtype=are_texts, parse_dates=dates),
        pd.read_excel(folder / "a.xlsx", dtype=are_texts, engine="calamine"),
    )
    for again in read:
        assert list(again.columns) == list(frame.columns), table
        assert len(again) == len(frame), table
        for name in (*dates, *of_kind(frame, "Int"), *of_kind(frame, "Float")):
            assert (again[name].isna() == frame[name].isna()).all(), (table, name)
        for name in texts:  # an empty text and an unknown one are the same cell
            assert again[name].fillna("").tolist() == frame[name].fillna("").tolist(), (table, name)


def test_tables_merge_by_id_and_their_days_and_times_group(first_release_home: Path) -> None:
    with open_warehouse(first_release_home / "sandbox") as wh:
        days, videos = wh.marts.video_days.df(), wh.marts.videos.df()
    merged = days.merge(videos, on="aweme_id", suffixes=("_of_day", ""))
    assert len(merged) == len(days) > 0
    by_month = merged.groupby(pd.Grouper(key="day", freq="MS"))["digg_count"].agg(["sum", "count"])
    assert by_month["count"].sum() == merged["digg_count"].notna().sum()
    assert len(days[days["day"] >= "2000-01-01"]) == len(days)
    assert days["day"].dt.tz_localize("UTC").le(days["last_observed_at"]).all()


COMPUTED: tuple[tuple[str, str, object], ...] = (
    ("date '2026-11-02'", "datetime64[ms]", pd.Timestamp("2026-11-02")),
    ("timestamp '2026-11-02 01:02:03'", "datetime64[us]", pd.Timestamp("2026-11-02 01:02:03")),
    ("interval '1 day 2 hours'", "timedelta64[us]", pd.Timedelta(hours=26)),
    ("timestamp '2026-11-02' - timestamp '2026-11-01'", "timedelta64[us]", pd.Timedelta("1D")),
    ("interval '1 month'", "string", "1 month"),
    ("[interval '1 day']", "string", "[1 day]"),
    ("1.50::decimal(9, 2)", "Float64", 1.5),
    ("7::hugeint", "Int64", 7),
    ("7::ubigint", "UInt64", 7),
    ("0.5::float", "Float32", 0.5),
    ("true", "boolean", True),
    ("['a', 'b']", "object", ["a", "b"]),
    ("{'count': 1}", "object", {"count": 1}),
    ("[[1], [2]]", "object", [[1], [2]]),
    ("'101'::bit", "string", "101"),
)


def test_computed_columns_have_the_expected_pandas_types(
    first_release_home: Path,
) -> None:
    columns = [f"{expression} as x{number}" for number, (expression, *_) in enumerate(COMPUTED)]
    with open_warehouse(first_release_home / "sandbox") as wh:
        nulls = f"select {', '.join(['null'] * len(COMPUTED))}"
        frame = wh.sql(f"select {', '.join(columns)} union all {nulls} order by x0").df()
    for number, (expression, dtype, value) in enumerate(COMPUTED):
        column = frame[f"x{number}"]
        assert str(column.dtype) == dtype, expression
        assert column[0] == value, expression
        assert column.isna().tolist() == [False, True], expression


def test_polars_and_arrow_have_durations_too(first_release_home: Path) -> None:
    with open_warehouse(first_release_home / "sandbox") as wh:
        found = wh.sql("select interval '36 hours' as x, interval '1 year' as y")
        assert str(found.pl().schema["x"]) == "Duration(time_unit='us')"
        assert [str(kind) for kind in found.arrow().schema.types] == ["duration[us]", "string"]
        assert found.rows()[0]["x"].total_seconds() == 36 * 3600
