"""What `make load` reads of a process: what is in use, and how fast it grows."""

import math
import weakref
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
import sqlalchemy

from benchmarks.load.gauges import Gauge, slope_per_h
from benchmarks.load.in_use import can_tell, in_use, measured_command, remember

needs_figures = pytest.mark.skipif(not can_tell(), reason="no library says what is in use")


@needs_figures
@pytest.mark.soak
def test_memory_gauge_counts_allocations_until_they_are_freed() -> None:
    before = in_use().own_mb
    kept = [np.ones(1024**2 // 8) for _ in range(20)]
    assert in_use().own_mb - before == pytest.approx(20, abs=1)
    kept.clear()
    assert in_use().own_mb - before == pytest.approx(0, abs=1)


@needs_figures
@pytest.mark.soak
def test_memory_gauge_counts_memory_of_the_database() -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        before = in_use()
        connection.sql("create table numbers as select random() as x from range(2_000_000)")
        after = in_use()
        assert after.database_mb - before.database_mb > 10
        assert after.own_mb - before.own_mb < 5


@needs_figures
@pytest.mark.soak
def test_a_cache_that_refers_to_itself_alone_is_not_in_use() -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    remember(engine)
    kept = weakref.ref(engine)
    del engine
    assert kept() is not None
    in_use()
    assert kept() is None


def test_a_line_has_its_slope_and_no_error() -> None:
    slope, error = slope_per_h([0.0, 1800.0, 3600.0, 5400.0], [100.0, 101.0, 102.0, 103.0])
    assert (slope, error) == pytest.approx((2.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("times", [[], [1.0], [1.0, 1.0, 2.0]])
def test_two_moments_show_no_slope(times: list[float]) -> None:
    assert slope_per_h(times, [1.0] * len(times)) == (0.0, math.inf)


def test_a_gauge_tells_what_is_in_use_only_where_that_was_read() -> None:
    gauge = Gauge(at=1.0, pss_mb=230.4, files=48, threads=36, processes=1)
    assert str(gauge) == "230 MB, 48 files, 36 threads"
    read = replace(gauge, in_use_mb=125.884, database_mb=2.7)
    assert str(read) == "230 MB (in use: 125.88, by DuckDB 2.70), 48 files, 36 threads"


def test_a_measured_command_is_the_command_behind_its_socket(tmp_path: Path) -> None:
    line = measured_command(tmp_path, "serve", "--port", "1")
    assert line[-4:] == [str(tmp_path / "serve.socket"), "serve", "--port", "1"]
