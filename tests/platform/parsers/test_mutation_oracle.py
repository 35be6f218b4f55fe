"""What holds mutated answers to the truth notices what a careless parser would invent."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.fuzz.holding import NOW, BrokenError, check_records
from warehouse.records.charts import ChartPage, ChartSong
from warehouse.records.errors import ContractBrokenError
from warehouse.records.videos import Account, Statistics, Track, Video, VideoPage

ID = "7568123456789012345"
WORK: dict[str, Any] = {
    "aweme_id": ID,
    "desc": "",
    "statistics": {"digg_count": 12, "comment_count": 0, "share_count": "1.2w"},
}
SHOWN = Statistics(digg_count=12, comment_count=0, share_count=12_000)
VIDEO = Video(aweme_id=ID, surface="any", observed_at=NOW, desc="", statistics=SHOWN)


def _in_list(video: Video) -> VideoPage:
    return VideoPage(videos=(video,), cursor=None, has_more=False)


def test_records_that_say_what_the_document_says_pass() -> None:
    check_records(_in_list(VIDEO), {"aweme_list": [WORK]})
    check_records(VIDEO, {"aweme_detail": WORK})


@pytest.mark.parametrize(
    "counts",
    [{"collect_count": 0}, {"digg_count": 0}, {"digg_count": 13}, {"share_count": 1}],
)
def test_invented_count_is_noticed(counts: dict[str, int]) -> None:
    video = replace(VIDEO, statistics=replace(SHOWN, **counts))
    with pytest.raises(BrokenError):
        check_records(_in_list(video), {"aweme_list": [WORK]})


def test_count_of_another_work_is_noticed() -> None:
    other = {**WORK, "aweme_id": "7568123456789012999"}
    with pytest.raises(BrokenError):
        check_records(_in_list(VIDEO), {"aweme_list": [other, {"aweme_id": ID}]})


@pytest.mark.parametrize(
    "record",
    [
        Account(sec_uid="MS4w", surface="any", observed_at=NOW, follower_count=0),
        Account(sec_uid="MS4w", surface="any", observed_at=NOW, nickname=""),
        Track(music_id="1", surface="any", observed_at=NOW, title=""),
        ChartPage(
            songs=(ChartSong(rank=1, title="a", duration_s=0),),
            surface="any",
            observed_at=NOW,
            page=1,
        ),
        _in_list(replace(VIDEO, create_time=0)),
    ],
)
def test_invented_zero_or_empty_text_is_noticed(record: object) -> None:
    with pytest.raises(BrokenError):
        check_records(record, {"aweme_list": [WORK]})


def test_row_that_the_lake_refuses_is_noticed() -> None:
    odd: Any = 20261122
    with pytest.raises(ContractBrokenError):
        check_records(_in_list(replace(VIDEO, desc=odd)), None)
