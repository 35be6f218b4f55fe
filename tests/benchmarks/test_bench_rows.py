"""How a bench tells its rows: at once, in order, whatever fails. Fake rows; nothing is measured."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import override

import pytest

from benchmarks.speed.__main__ import main
from benchmarks.speed.rows import ROWS, Late
from benchmarks.speed.running import Row, RowOutput, Runner, Workspace, counted, spent_by_all

SPACE = Workspace(folder=Path("unused"), sounds=Path("unused"), lake=Path("unused"))


class Pipe(io.StringIO):
    """What has been written, and what of it a reader of a pipe would have by now."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = ""

    @override
    def flush(self) -> None:
        self.seen = self.getvalue()


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def row(name: str, *outputs: RowOutput) -> Row:
    return Row(name, f"about {name}", lambda _: iter(outputs))


def failing(name: str, *outputs: RowOutput, error: Exception) -> Row:
    def measure(_: Workspace) -> Iterator[RowOutput]:
        yield from outputs
        raise error

    return Row(name, f"about {name}", measure)


def run(*rows: Row) -> tuple[int, str]:
    out = Pipe()
    status = Runner(out=out, clock=Clock()).run(rows, SPACE)
    return status, out.seen


def places(text: str, *parts: str) -> list[int]:
    return [text.index(part) for part in parts]


def test_a_figure_is_seen_before_the_next_one_is_measured() -> None:
    out = Pipe()
    seen: list[str] = []

    def measure(_: Workspace) -> Iterator[RowOutput]:
        seen.append(out.seen)
        yield "first figure", "1 ms", ""
        seen.append(out.seen)
        yield "second figure", "2 ms", ""
        seen.append(out.seen)

    Runner(out=out, clock=Clock()).run([Row("one", "about one", measure)], SPACE)

    assert ["about one" in text for text in seen] == [True, True, True]
    assert ["first figure" in text for text in seen] == [False, True, True]
    assert ["second figure" in text for text in seen] == [False, False, True]


def test_bench_prints_its_current_step_before_it_runs() -> None:
    out = Pipe()
    seen: list[str] = []

    def measure(_: Workspace) -> Iterator[RowOutput]:
        yield "writing a lake"
        seen.append(out.seen)
        yield "the lake", "9 s", ""

    Runner(out=out, clock=Clock()).run([Row("one", "about one", measure)], SPACE)

    assert "one: writing a lake …" in seen[0]
    assert out.seen.count("writing a lake") == 1
    assert out.seen.count("the lake") == 2  # its line, and the table


def test_rows_are_told_in_their_order_and_then_once_more_as_a_table() -> None:
    _, text = run(row("one", ("a", "1 ms", "")), row("two", ("b", "2 ms", "")))

    found = places(text, "one: about one", "one: a", "two: about two", "two: b", "2 of 2 rows in")
    assert found == sorted(found)
    table = text[text.index("2 of 2 rows in") :]
    assert places(table, "1 ms", "2 ms") == sorted(places(table, "1 ms", "2 ms"))


def test_bench_line_names_the_rows_still_to_come() -> None:
    _, text = run(*(row(name, ("figure", "1", "")) for name in ("one", "two", "three")))

    coming = {
        name: {line.rpartition("| ")[2] for line in text.splitlines() if f" s  {name}: " in line}
        for name in ("one", "two", "three")
    }
    assert coming == {
        "one": {"next: two, then 1 more"},
        "two": {"next: three"},
        "three": {"next: nothing, this is the last"},
    }


def test_a_line_begins_with_the_seconds_since_the_start() -> None:
    out, clock = Pipe(), Clock()

    def measure(_: Workspace) -> Iterator[RowOutput]:
        clock.now += 75
        yield "figure", "1 ms", ""

    Runner(out=out, clock=clock).run([Row("one", "about one", measure)], SPACE)

    assert out.seen.startswith("    0 s  one: about one")
    assert "\n   75 s  one: figure" in out.seen
    assert "1 of 1 rows in 75 s" in out.seen


def test_a_row_tells_its_seconds_by_the_clock_and_of_the_processor() -> None:
    out, clock, processor = Pipe(), Clock(), Clock()

    def measure(_: Workspace) -> Iterator[RowOutput]:
        clock.now += 12
        processor.now += 3.5
        yield "figure", "1 ms", ""

    Runner(out=out, clock=clock, processor=processor).run(
        [row("zero"), Row("one", "about one", measure)], SPACE
    )

    assert "zero: row took   0.0 s, 0.0 s of processor" in out.seen
    assert "one: row took   12.0 s, 3.5 s of processor" in out.seen


def test_bench_line_prints_the_aim_of_its_figure() -> None:
    _, text = run(row("one", ("with", "1 ms", "under 2 ms"), ("without", "3 ms", "")))

    assert "one: with   1 ms   (aim: under 2 ms)   |" in text
    assert "one: without   3 ms   |" in text


def test_a_row_that_fails_loses_neither_its_own_figures_nor_the_others() -> None:
    status, text = run(
        row("one", ("a", "1 ms", "")),
        failing("two", ("b", "2 ms", ""), error=ValueError("no such lake\nand more")),
        row("three", ("c", "3 ms", "")),
    )

    assert status == 1
    assert "two: FAILED   ValueError: no such lake   |" in text
    table = text[text.index("3 of 3 rows in") :]
    found = places(table, "1 ms", "2 ms", "ValueError: no such lake", "3 ms")
    assert found == sorted(found)


def test_an_error_without_words_is_told_by_its_name() -> None:
    _, text = run(failing("one", error=TimeoutError()))

    assert "one: FAILED   TimeoutError   |" in text


def test_failed_bench_row_prints_where_it_failed() -> None:
    _, text = run(failing("one", error=ValueError("no such lake")))

    assert "in measure" in text


def test_the_status_is_0_when_every_row_was_measured() -> None:
    status, _ = run(row("one", ("a", "1 ms", "")), row("two"))

    assert status == 0


def test_interrupted_bench_prints_the_rows_measured_so_far() -> None:
    def broken_off(_: Workspace) -> Iterator[RowOutput]:
        yield "b", "2 ms", ""
        raise KeyboardInterrupt

    out = Pipe()
    rows = [row("one", ("a", "1 ms", "")), Row("two", "about two", broken_off), row("three")]
    with pytest.raises(KeyboardInterrupt):
        Runner(out=out, clock=Clock()).run(rows, SPACE)

    table = out.seen[out.seen.index("1 of 3 rows in") :]
    assert "1 ms" in table
    assert "2 ms" in table


def test_square_brackets_of_a_figure_are_shown_as_they_are() -> None:
    _, text = run(row("one", ("by digest", "[1, 2, 3]", "[red]")))

    table = text[text.index("1 of 1 rows in") :]
    assert "[1, 2, 3]" in table
    assert "[red]" in table


FAKES = [row(name, (f"figure of {name}", "1 ms", "")) for name in ("reads", "chart", "stores")]


@pytest.mark.parametrize(
    ("asked", "measured"),
    [
        ("", ["reads", "chart", "stores"]),
        ("chart", ["chart"]),
        ("stores,reads", ["reads", "stores"]),
        (" stores , ,stores", ["stores"]),
    ],
)
def test_rows_are_chosen_by_name(
    asked: str, measured: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--row", asked], rows=FAKES) == 0

    lines = capsys.readouterr().out.splitlines()
    begun = [line.split()[2].rstrip(":") for line in lines if ": about " in line]
    assert begun == measured


def test_an_unknown_name_measures_nothing_and_lists_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--row", "reads,wrong"], rows=FAKES) == 2

    outputs = capsys.readouterr()
    assert outputs.out == ""
    assert "no such row: wrong" in outputs.err
    assert [line.split()[0] for line in outputs.err.splitlines()[1:]] == [
        "reads",
        "chart",
        "stores",
    ]


@pytest.mark.parametrize("arguments", [["--list"], ["--row", "list"]])
def test_the_rows_can_be_listed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments, rows=FAKES) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["reads", "about", "reads"],
        ["chart", "about", "chart"],
        ["stores", "about", "stores"],
    ]


def test_a_failed_row_is_the_status_of_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], rows=[failing("one", error=ValueError("no")), *FAKES]) == 1

    assert "figure of stores" in capsys.readouterr().out


def test_names_of_rows_are_distinct_and_every_row_has_its_function() -> None:
    names = [one.name for one in ROWS]
    assert sorted(set(names)) == sorted(names)
    for one in ROWS:
        assert isinstance(one.measure, Late)
        assert callable(one.measure.load())


def test_a_module_that_cannot_be_loaded_fails_its_row_alone() -> None:
    status, text = run(Row("one", "about one", Late("of_nothing", "measure")), FAKES[0])

    assert status == 1
    assert "one: FAILED   ModuleNotFoundError" in text
    assert "figure of reads" in text


def test_processor_seconds_only_grow() -> None:
    first = spent_by_all()
    sum(n * n for n in range(200_000))

    assert spent_by_all() > first


def moved(clock: Clock, by_s: float) -> Callable[[int], int]:
    def pass_time(item: int) -> int:
        clock.now += by_s
        return item

    return pass_time


def test_a_long_count_is_told_now_and_then_and_at_its_end() -> None:
    out, clock = Pipe(), Clock()
    items = map(moved(clock, 2.0), range(8))

    handed_on = list(counted(items, what="hearing", total=8, every_s=5.0, clock=clock, out=out))

    assert handed_on == list(range(8))
    assert [line.split("hearing: ")[1] for line in out.seen.splitlines()] == [
        "3 of 8", "6 of 8", "8 of 8",
    ]  # fmt: skip
