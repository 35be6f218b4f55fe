"""Watchlists as a file: what is read, and which line is to blame for what is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.services.watchlists.files import MAX_FILE_BYTES, read_watchlist_file
from warehouse.records.errors import InvalidParameterError
from warehouse.records.watchlists import DigestThresholds, WatchlistEntry, WatchlistPlan

WHOLE = """\
# what we follow
watchlists:
  - name: five-songs
    every: every 6 hours
    tracks:
      - 7300000000000000001        # stays text, whatever its length
      - "https://vidplat.example/music/7300000000000000002"
    accounts: ['007']
    hashtags: [1600000000000001]
    thresholds: {velocity: 500, rank_change: null}
    parameters: {count: 10, search_keywords: [纸船, Paper Boats]}
    enabled: false
  - name: 2026
    every: "0 6 * * 1"
    accounts: [MS4wLjABAAAAx]
"""


def test_a_whole_file_is_read_as_it_is_written() -> None:
    songs, year = read_watchlist_file(WHOLE)
    assert songs.plan == WatchlistPlan(
        name="five-songs",
        every="every 6 hours",
        entries=(
            WatchlistEntry(kind="track", input="7300000000000000001"),
            WatchlistEntry(kind="track", input="https://vidplat.example/music/7300000000000000002"),
            WatchlistEntry(kind="account", input="007"),
            WatchlistEntry(kind="hashtag", input="1600000000000001"),
        ),
        thresholds=DigestThresholds(velocity=500, rank_change=None),
        parameters={"count": 10, "search_keywords": ["纸船", "Paper Boats"]},
        enabled=False,
    )
    assert (year.plan.name, year.plan.every, year.line) == ("2026", "0 6 * * 1", 13)


@pytest.mark.parametrize(
    ("before", "after", "line", "word"),
    [
        ("watchlists:", "watchlist:", 2, "did you mean `watchlists`?"),
        ("every: every 6 hours", "evry: daily", 4, "did you mean `every`?"),
        ("every: every 6 hours", "every: 6", 4, "`every`"),
        ("    every: every 6 hours\n", "", 3, "`every`"),
        ("name: five-songs", "name: Five Songs", 3, "`name`"),
        ("name: 2026", "name: five-songs", 13, "already used in line 3"),
        ("enabled: false", "enabled: 1", 12, "`enabled`"),
        ("enabled: false", "every: daily", 12, "`every` appears twice"),
        ("count: 10", "count: 1000", 11, "`parameters.count`"),
        ("count: 10", "cuont: 10", 11, "`parameters.cuont`"),
        ("velocity: 500", "velocity: fast", 10, "`thresholds.velocity`"),
        ("velocity: 500", "velocity: .nan", 10, "`thresholds.velocity`"),
        ("accounts: ['007']", "accounts: '007'", 8, "list of ids or links"),
        ("accounts: ['007']", "accounts: [[1]]", 8, "list of ids or links"),
        ("accounts: ['007']", "accounts: ['']", 8, "`entries.2.input`"),
        ("accounts: ['007']", "accounts: [*ids]", 8, "aliases"),
        ("enabled: false", "enabled: !!python/object:os.system x", 12, "not a valid value"),
        ("tracks:", "tracks: {", 6, ""),
    ],
)
def test_watchlist_file_fault_is_named_with_its_line(
    before: str, after: str, line: int, word: str
) -> None:
    assert before in WHOLE
    with pytest.raises(InvalidParameterError) as caught:
        read_watchlist_file(WHOLE.replace(before, after))
    assert caught.value.detail.startswith(f"line {line}: "), caught.value.detail
    assert word in caught.value.detail
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["", "- a", "watchlists: 5", "watchlists: [5]", "a: b: c", "\x00", "[[", "&a [*a]",
     "watchlists:\n" + " " * MAX_FILE_BYTES],
)  # fmt: skip
def test_invalid_watchlist_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameterError):
        read_watchlist_file(text)


@settings(deadline=None)
@given(text=st.text(max_size=200) | st.text(alphabet="watchlists: -[]{}\n&*!|>'\"a1", max_size=60))
def test_any_watchlist_file_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_watchlist_file(text)
    except InvalidParameterError as error:
        assert error.hint  # noqa: PT017 -- either way is right, but a refusal has advice
    else:
        assert found == []
