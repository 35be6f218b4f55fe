"""What the service answers has the shape that the types of the client say."""

from collections.abc import Callable
from typing import Any, get_type_hints, is_typeddict

from pydantic import TypeAdapter

from api.client import Client, answers
from tests.contract.conftest import client_of
from tests.scripted_reads import ReadService
from tests.stored_results import MUSIC_ID

ENTRY: Any = {"kind": "track", "input": MUSIC_ID}
ASKED: dict[str, Callable[[Client], Any]] = {
    "QueriesData": lambda caller: caller.queries(),
    "TablesData": lambda caller: caller.tables(),
    "SqlData": lambda caller: caller.sql("select 1 as one"),
    "ChartLinksData": lambda caller: caller.chart_links(),
    "StorageData": lambda caller: caller.storage(),
    "SettingsData": lambda caller: caller.settings(),
    "ReferenceData": lambda caller: caller.reference(),
    "CatalogImportData": lambda caller: caller.import_tracks("songs", inputs=[MUSIC_ID, "none"]),
    "CatalogsData": lambda caller: caller.catalogs(),
    "CatalogData": lambda caller: caller.catalog("songs"),
    "CatalogTracksData": lambda caller: caller.catalog_tracks("songs"),
    "CatalogRemovedData": lambda caller: caller.remove_catalog("songs"),
    "WatchlistData": lambda caller: caller.create_watchlist("s", every="daily", entries=[ENTRY]),
    "WatchRunData": lambda caller: caller.run_watchlist("s"),
    "WatchlistsData": lambda caller: caller.watchlists(),
    "WatchRunsData": lambda caller: caller.watchlist_runs("s"),
    "WatchDigestsData": lambda caller: caller.watchlist_digests("s"),
    "WatchlistDeletedData": lambda caller: caller.delete_watchlist("s"),
}


def test_every_type_that_a_field_names_exists() -> None:
    shapes = [one for one in vars(answers).values() if is_typeddict(one)]
    assert len(shapes) > 100
    for shape in shapes:
        assert get_type_hints(shape).keys() == shape.__annotations__.keys()


def test_answers_have_exactly_the_fields_of_their_types(reads: ReadService) -> None:
    with client_of(reads.client()) as caller:
        for name, ask in ASKED.items():
            shape: Any = getattr(answers, name)
            data = ask(caller).data
            TypeAdapter(shape).validate_python(data, strict=True)
            assert data.keys() == shape.__value__.__annotations__.keys(), name
