"""Relations and groups of tables as an analyst uses them: columns, rows, and what is not there."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from warehouse import open_warehouse
from warehouse.analysis import relation
from warehouse.analysis.relation import WarehouseRelation
from warehouse.analysis.warehouse import Warehouse
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import InvalidParameterError

NUMBERS = "select n, 'row ' || n as label from range(3) t(n) order by n"


@pytest.fixture(scope="module")
def wh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    home: Path = tmp_path_factory.mktemp("data")
    lake = open_lake(open_home(home, "sandbox").lake_url, world="sandbox")
    with open_warehouse(lake.url) as opened:
        yield opened


@pytest.fixture
def numbers(wh: Warehouse) -> WarehouseRelation:
    return wh.sql(NUMBERS)


def test_a_column_of_a_relation_is_a_relation(numbers: WarehouseRelation) -> None:
    assert numbers["label"].rows() == [{"label": f"row {n}"} for n in range(3)]
    quoted = numbers.project('n as "a ""b"""')
    assert quoted.columns == ['a "b"']
    assert quoted['a "b"'].arrow().num_rows == 3
    with pytest.raises(KeyError):
        _ = numbers["LABEL "]


def test_a_relation_is_gone_through_row_by_row_and_counted(numbers: WarehouseRelation) -> None:
    assert [row["n"] for row in numbers] == [0, 1, 2]
    assert len(numbers) == 3


def test_truth_value_of_an_empty_relation_is_true(wh: Warehouse) -> None:
    assert bool(wh.marts.rankings)
    assert len(wh.marts.rankings) == 0


def test_properties_of_a_relation_are_values_and_its_methods_give_relations(
    numbers: WarehouseRelation,
) -> None:
    assert numbers.shape == (3, 2)
    assert list(map(str, numbers.types)) == ["BIGINT", "VARCHAR"]
    assert isinstance(numbers.limit(1), WarehouseRelation)
    other = numbers.project("n, n * n as square")
    assert numbers.filter("n > 1").set_alias("a").join(other, "n").rows() == [
        {"n": 2, "label": "row 2", "square": 4}
    ]


def test_a_statement_on_a_relation_reads_and_changes_nothing(
    wh: Warehouse, numbers: WarehouseRelation
) -> None:
    assert numbers.query("these", "select max(n) as n from these").rows() == [{"n": 2}]
    for statement in (
        "create or replace view marts.rankings as select 1 as rank",
        "drop view marts.rankings",
        "select 1; select 2",
        f"select * from read_text('{__file__}')",
    ):
        with pytest.raises(InvalidParameterError, match=r"read-only|only the tables"):
            numbers.query("these", statement)
    assert wh.marts.rankings.rows() == []


def test_a_sum_that_needs_more_than_64_bits_stays_exact(wh: Warehouse) -> None:
    sql = "select sum(n) as large from (values (9223372036854775807), (1)) t(n)"
    found = wh.sql(sql).arrow()
    assert pa.types.is_decimal(found.schema.field("large").type)
    assert int(found.column("large")[0].as_py()) == 2**63


@pytest.mark.parametrize(("library", "read"), [("pandas", "df"), ("polars", "pl")])
def test_a_frame_whose_library_is_missing_names_the_extra(
    numbers: WarehouseRelation, monkeypatch: pytest.MonkeyPatch, library: str, read: str
) -> None:
    monkeypatch.setattr(relation, "find_spec", lambda _name: None)
    with pytest.raises(InvalidParameterError, match=f"{library} is not installed") as caught:
        getattr(numbers, read)()
    assert ".whl[analysis]" in str(caught.value.hint)
    assert len(numbers.rows()) == 3


def test_a_group_of_tables_is_a_mapping_of_their_names(wh: Warehouse) -> None:
    names = list(wh.marts)
    assert len(wh.marts) == len(names)
    assert [f"marts.{name}" for name in names] == [
        name for name in wh.tables() if name.startswith("marts.")
    ]
    assert wh.marts["rankings"].columns == wh.table("marts.rankings").columns
    with pytest.raises(KeyError):
        _ = wh.marts["ranking"]
