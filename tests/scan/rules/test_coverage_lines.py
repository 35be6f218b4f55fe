"""Lines of the coverage report: one for each surface and reason, with everything added up."""

from hypothesis import given
from hypothesis import strategies as st

from warehouse.records.coverage import SourceCoverage, merge_coverage


def line(surface: str, stop_reason: str, *counts: int) -> SourceCoverage:
    requests, pages, items, new_items = counts or (1, 1, 1, 1)
    return SourceCoverage(
        surface=surface,
        requests=requests,
        pages=pages,
        items=items,
        new_items=new_items,
        stop_reason=stop_reason,
    )


def test_equal_surfaces_with_an_equal_reason_are_added_up() -> None:
    found = merge_coverage([
        line("search", "exhausted", 1, 20, 300, 4000),
        line("search", "exhausted", 5, 60, 700, 8000),
    ])  # fmt: skip
    assert found == [line("search", "exhausted", 6, 80, 1000, 12000)]


def test_another_surface_or_another_reason_is_another_line_in_the_order_first_seen() -> None:
    lines = [line("search", "page_limit"), line("music_list", "page_limit"), line("search", "end")]
    again = line("search", "page_limit")
    assert merge_coverage([*lines, again]) == [line("search", "page_limit", 2, 2, 2, 2), *lines[1:]]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, 9))))
def test_merged_coverage_keeps_all_requests_and_has_one_line_per_reason(
    rows: list[tuple[str, str, int]],
) -> None:
    found = merge_coverage([line(surface, reason, n, n, n, n) for surface, reason, n in rows])
    assert sum(entry.requests for entry in found) == sum(n for _, _, n in rows)
    assert len({(entry.surface, entry.stop_reason) for entry in found}) == len(found)
