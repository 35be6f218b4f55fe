"""Data frames of every table do what users of pandas do most."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.lake_rows import to_row
from warehouse import open_warehouse
from warehouse.analysis.description import NAMES
from warehouse.analysis.warehouse import Warehouse
from warehouse.tables import TABLES
from warehouse.tables.column import BOOLEAN, BYTES, DATE, FLOAT, INTEGER, TEXT, TEXT_LIST, TIME

ID = "7361729694329545668"
VALUES: dict[Any, object] = {
    TEXT: ID, INTEGER: 1_760_000_000, FLOAT: 0.5, BOOLEAN: True, TEXT_LIST: [ID],
    TIME: datetime(2026, 10, 2, 12, tzinfo=UTC), DATE: date(2026, 10, 2),
}  # fmt: skip
DTYPES = {
    TEXT: "string", INTEGER: "Int64", FLOAT: "Float64", BOOLEAN: "boolean", TEXT_LIST: "object",
    TIME: "datetime64[us, UTC]", DATE: "datetime64[ms]",
}  # fmt: skip


@pytest.fixture(scope="module", params=["a row of each kind", "first release"])
def wh(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    empty_home: Path,
    first_release_home: Path,
    small_at: Callable[[Path], Any],
) -> Iterator[Warehouse]:
    """Every table with one complete row and one with nulls; and what real scans have left."""
    root = first_release_home
    if request.param != "first release":
        root = tmp_path_factory.mktemp("filled") / "data"
        shutil.copytree(empty_home, root)
        lake = small_at(root).lake
        for table in TABLES:
            whole = {column.name: VALUES.get(column.type, b"") for column in table.columns}
            if "surface" in whole:
                whole |= {"surface": "video_page"}
            lake.append(table.name, [whole, to_row(table.name)])
    with open_warehouse(root / "sandbox") as opened:
        yield opened


def of_kind(frame: pd.DataFrame, kind: str) -> list[str]:
    return [str(name) for name, dtype in frame.dtypes.items() if str(dtype).startswith(kind)]


@pytest.mark.parametrize("name", NAMES)
def test_the_types_of_a_frame_are_those_of_its_columns(wh: Warehouse, name: str) -> None:
    frame = wh.table(name).df()
    for column in wh.describe(name).columns:
        expected = DTYPES.get(column.type, "object")
        assert str(frame.dtypes[column.name]) == expected, column.name
        if column.type == TEXT_LIST:
            assert {type(value) for value in frame[column.name].dropna()} <= {list}


@pytest.fixture
def frame(wh: Warehouse, name: str) -> pd.DataFrame:
    """A table without what is packed."""
    packed = [column.name for column in wh.describe(name).columns if column.type == BYTES]
    return wh.table(name).df().drop(columns=packed)


@pytest.mark.parametrize("name", NAMES)
def test_days_and_times_are_filtered_grouped_and_sorted(frame: pd.DataFrame) -> None:
    for at in of_kind(frame, "datetime64"):
        rest = frame.dropna(subset=at)
        if rest.empty:
            continue  # `resample` of pandas itself fails without rows
        assert len(rest[rest[at] >= "1970-01-01"]) == len(rest)
        assert rest[rest[at] > "2200-01-01"].empty
        assert rest.resample("D", on=at).size().sum() == len(rest)
        assert rest.groupby(pd.Grouper(key=at, freq="MS")).size().sum() == len(rest)
        assert rest.sort_values(at)[at].is_monotonic_increasing


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_counted_summed_pivoted_and_merged_by_id(frame: pd.DataFrame) -> None:
    numbers = [*of_kind(frame, "Int"), *of_kind(frame, "Float")]
    for key in of_kind(frame, "string")[:2]:
        assert frame[key].value_counts().sum() == frame[key].notna().sum()
        assert len(frame.merge(frame[[key]].drop_duplicates(), on=key)) == len(frame)
        if numbers:
            sums = frame.groupby(key)[numbers].agg(["sum", "mean", "max"])
            assert len(sums) == frame[key].nunique()
            pivot = frame.pivot_table(index=key, values=numbers[0], aggfunc="sum")
            assert len(pivot) <= frame[key].nunique()
    assert frame.empty or len(frame.describe(include="all")) > 0


@pytest.mark.parametrize("name", NAMES)
def test_csv_and_excel_files_are_written_and_read(frame: pd.DataFrame, tmp_path: Path) -> None:
    texts, dates = of_kind(frame, "string"), of_kind(frame, "datetime64")
    are_texts: Any = dict.fromkeys(texts, "string")
    frame.to_csv(tmp_path / "a.csv", index=False)
    naive = {
        str(name): frame[name].dt.tz_localize(None) for name in frame.select_dtypes("datetimetz")
    }
    frame.assign(**naive).to_excel(tmp_path / "a.xlsx", index=False)
    read = (
        pd.read_csv(tmp_path / "a.csv", dtype=are_texts, parse_dates=dates),
        pd.read_excel(tmp_path / "a.xlsx", dtype=are_texts, engine="calamine"),
    )
    for again in read:
        assert list(again.columns) == list(frame.columns)
        assert len(again) == len(frame)
        for name in (*dates, *of_kind(frame, "Int"), *of_kind(frame, "Float")):
            assert (again[name].isna() == frame[name].isna()).all(), name
        for name in texts:  # an empty text and an unknown one are the same cell
            assert again[name].fillna("").tolist() == frame[name].fillna("").tolist(), name


def test_tables_merge_by_id_and_their_days_and_times_group(first_release_home: Path) -> None:
    with open_warehouse(first_release_home / "sandbox") as wh:
        days, videos = wh.marts.video_days.df(), wh.marts.videos.df()
    merged = days.merge(videos, on="aweme_id", suffixes=("_of_day", ""))
    assert len(merged) == len(days) > 0
    by_month = merged.groupby(pd.Grouper(key="day", freq="MS"))["digg_count"].agg(["sum", "count"])
    assert by_month["count"].sum() == merged["digg_count"].notna().sum()
    assert len(days[days["day"] >= "2000-01-01"]) == len(days)
    assert days["day"].dt.tz_localize("UTC").le(days["last_observed_at"]).all()


@pytest.mark.parametrize(
    ("expression", "dtype", "value"),
    [
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
    ],
)
def test_what_a_query_computes_has_the_type_that_pandas_users_expect(
    first_release_home: Path, expression: str, dtype: str, value: object
) -> None:
    with open_warehouse(first_release_home / "sandbox") as wh:
        frame = wh.sql(f"select {expression} as x union all select null order by x").df()
    assert str(frame.dtypes["x"]) == dtype
    assert frame["x"][0] == value
    assert frame["x"].isna().tolist() == [False, True]


def test_polars_and_arrow_have_durations_too(first_release_home: Path) -> None:
    with open_warehouse(first_release_home / "sandbox") as wh:
        found = wh.sql("select interval '36 hours' as x, interval '1 year' as y")
        assert str(found.pl().schema["x"]) == "Duration(time_unit='us')"
        assert [str(kind) for kind in found.arrow().schema.types] == ["duration[us]", "string"]
        assert found.rows()[0]["x"].total_seconds() == 36 * 3600
