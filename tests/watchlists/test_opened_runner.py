"""What is opened to see whether a watchlist is due."""

from pathlib import Path
from typing import NoReturn

import pytest

from pipelines import open_stores
from pipelines.settings import Settings
from pipelines.watchlists.open_service import open_watchlist_runner


def test_the_lake_stays_closed_while_nothing_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> NoReturn:
        raise AssertionError("the lake was opened")

    monkeypatch.setattr(open_stores, "open_engine_of", refuse)
    settings = Settings(_env_file=None, profile="sandbox", data_home=tmp_path)
    with open_watchlist_runner(settings) as runner:
        assert (runner.take_due(), runner.not_begun(), runner.ready()) == ([], [], [])
        with pytest.raises(AssertionError, match="the lake was opened"):
            runner.gone_videos("a job")
