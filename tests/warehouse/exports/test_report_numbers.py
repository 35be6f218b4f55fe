"""The program in data packages ranks as the product does, in every order."""

import random
from datetime import UTC, datetime
from typing import Any, get_args

import pandas as pd
import pytest

from pipelines.parameters.scan import SortBy
from pipelines.scan.rules.results import rank_documents
from warehouse.exports.package_contents.report_numbers import COUNTS, ranked

NOW = 1_790_000_000


def documents() -> list[dict[str, Any]]:
    """Videos with equal and unknown counts, equal times, and ids of two lengths."""
    draw = random.Random(7)
    found = []
    for number in range(60):
        stated = draw.choice([None, NOW, NOW + number])
        born = datetime.fromtimestamp(stated or NOW - number % 5, UTC).isoformat()
        found.append(
            {
                "aweme_id": f"{draw.choice(['9', '10'])}{number:05}",
                "create_time": stated,
                "created_at": draw.choice([born, None]) if stated else born,
                "statistics": {name: draw.choice([None, 0, 5, number]) for name in COUNTS},
            }
        )
    return found


@pytest.mark.parametrize("order", get_args(SortBy))
def test_videos_have_the_order_of_the_product(order: SortBy) -> None:
    videos: Any = documents()
    expected = [one["aweme_id"] for one in rank_documents(videos, sort_by=order)]
    frame = pd.DataFrame([{**one, **one["statistics"]} for one in videos])
    frame = frame.astype(dict.fromkeys((*COUNTS, "create_time"), "Int64"))
    frame = frame.astype({"aweme_id": "string"})
    frame["created_at"] = pd.to_datetime(frame["created_at"], utc=True)
    parameters = {"viral_threshold": 10, "viral_only": False, "sort_by": order, "count": 500}
    assert ranked(frame, parameters)["aweme_id"].tolist() == expected
    viral = ranked(frame, parameters | {"viral_only": True, "count": 3})
    assert (viral["digg_count"] >= 10).all()
    assert viral["rank"].tolist() == [1, 2, 3]
