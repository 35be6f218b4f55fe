"""Tables of a data package on the results of jobs: what reports show and no stored table holds.

A result is stored as one document, with the counts that its videos had when the scan concluded. Its
numbers become rows here, under the same rules as all tables: meanings, units, pseudonyms. What
stored tables hold already (rankings, accounts, coverage by source, estimates, audits) is not
repeated. Parts that a result of an earlier release lacks have no rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import orjson
import pyarrow as pa

from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.document_columns import PACKAGE_VIDEO_COLUMNS
from warehouse.exports.extracts import ExportScope, choose_extracts
from warehouse.queries.results import read_result_document
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.values import ReadOnlyDocument, Row
from warehouse.records.videos import COUNTS
from warehouse.tables import Table
from warehouse.tables.column import (
    ALGORITHM,
    BOOLEAN,
    COUNT_COLUMNS,
    INTEGER,
    TEXT,
    TEXT_LIST,
    TIME,
    nullable,
    refer,
    required,
)

_JOB = required("job_id", TEXT, "job")
_POSITION = required("position", INTEGER, "place in the result, from 0")

RESULT_TABLES: tuple[Table, ...] = (
    Table(
        "results.jobs",
        "job with a result: its numbers and parameters",
        ("job_id",),
        (
            _JOB,
            required("scan_job_id", TEXT, "job whose scan this is the result of; often itself"),
            required("kind", TEXT, "scan, search (by name, confirms nothing) or discovery"),
            nullable("music_id", TEXT, "track; null for a search by name"),
            nullable("title", TEXT, "title of the track, or the searched name"),
            required("created_at", TIME, "when the result was concluded"),
            required("data_provider", TEXT, "provider that read the music"),
            ALGORITHM,
            required("parameters", TEXT, "parameters of the job without its texts, as JSON"),
            nullable("search_terms", TEXT_LIST, "search terms that the job was given"),
            required("confirmed_count", INTEGER, "confirmed videos"),
            nullable("candidate_count", INTEGER, "candidates"),
            nullable("account_count", INTEGER, "accounts of the confirmed videos, at least"),
            nullable("variant_count", INTEGER, "variants"),
            nullable("version_count", INTEGER, "versions; null: none were looked for"),
            nullable("run_count", INTEGER, "scans of the track so far, with this one"),
            nullable("cumulative_confirmed_count", INTEGER, "videos that any of them confirmed"),
            nullable("new_confirmed_count", INTEGER, "videos confirmed for the first time"),
            nullable("search_page_count", INTEGER, "pages of the guest search that were read"),
            nullable("search_observed_count", INTEGER, "videos of this search and earlier ones"),
        ),
        references=refer(music_id="music_ids"),
    ),
    Table(
        "results.videos",
        "video of a result, with the counts that it had when the job concluded",
        ("job_id", "result_list", "aweme_id"),
        (
            _JOB,
            required(
                "result_list", TEXT, "confirmed, variants, versions, search_related or discovered"
            ),
            _POSITION,
            required("aweme_id", TEXT, "video"),
            nullable("sec_uid", TEXT, "author"),
            nullable("source_music_id", TEXT, "music id the video uses"),
            nullable("link_type", TEXT, "how it was confirmed"),
            nullable("kind", TEXT, "kind of a variant: speed, tempo, pitch, ..., excerpt"),
            nullable("search_relevance_level", TEXT, "exact_title, music_id_corroborated, ..."),
            nullable("comparison_id", TEXT, "evidence"),
            *COUNT_COLUMNS,
            required("statistics_complete", BOOLEAN, "all four counts read exactly"),
            nullable("create_time", INTEGER, "publication as stated, unix seconds"),
            nullable("created_at", TIME, "publication as stated, else the time in the video's id"),
            *(column.table_column for column in PACKAGE_VIDEO_COLUMNS),
        ),
        references=refer(aweme_id="videos", sec_uid="accounts", source_music_id="music_ids"),
    ),
    Table(
        "results.list_shares",
        "music list that a job read: how many of its rows are genuine",
        ("job_id", "music_id"),
        (
            _JOB,
            required("music_id", TEXT, "music id of the list"),
            required("row_count", INTEGER, "rows whose music is known"),
            required("own_row_count", INTEGER, "those that use the music id"),
            nullable("audio_row_count", INTEGER, "those confirmed by audio"),
        ),
        references=refer(
            music_id="music_ids",
            exceptions={"music_id": "a list may be read of an id that nothing else names"},
        ),
    ),
    Table(
        "results.search_terms",
        "search term of a job",
        ("job_id", "position"),
        (
            _JOB,
            _POSITION,
            required("term", TEXT, "search term"),
            required("page_count", INTEGER, "pages read"),
            required("item_count", INTEGER, "videos on them"),
            required("new_item_count", INTEGER, "videos new to this job"),
            required("is_finished", BOOLEAN, "the platform showed no further page"),
            required("stop_reason", TEXT, "reason why reading stopped"),
        ),
    ),
    Table(
        "results.source_decisions",
        "source of a question that a job asked: how often it was tried, and why not",
        ("job_id", "question", "surface"),
        (
            _JOB,
            required("question", TEXT, "what was to be read"),
            required("surface", TEXT, "source"),
            required("tried_count", INTEGER, "times it was tried"),
            required("answered_count", INTEGER, "times it answered"),
            required("circuit_open_count", INTEGER, "times left out because its circuit was open"),
            required("seldom_answers_count", INTEGER, "times left out because it rarely answers"),
            required(
                "held_back_count", INTEGER, "times left out because another source was refused"
            ),
            nullable("latest_answer_count", INTEGER, "its latest answers, to any job"),
            nullable("latest_refusal_count", INTEGER, "how many of these were refusals"),
        ),
    ),
    Table(
        "results.not_reached",
        "list that a job would have read next",
        ("job_id", "position"),
        (
            _JOB,
            _POSITION,
            required("surface", TEXT, "source"),
            required("entity_id", TEXT, "account, hashtag, music id or term"),
        ),
    ),
    Table(
        "results.audited_videos",
        "video that a job drew at random among those that are no candidates",
        ("job_id", "aweme_id"),
        (
            _JOB,
            required("aweme_id", TEXT, "video"),
            nullable("music_id", TEXT, "music id the video uses"),
            required("verdict", TEXT, "confirmed, variant, rejected, not_comparable, ..."),
            nullable("reason", TEXT, "reason of the verdict"),
            nullable("comparison_id", TEXT, "evidence, if it was compared"),
        ),
        references=refer(aweme_id="videos", music_id="music_ids"),
    ),
)


def read_result_tables(engine: Engine, scope: ExportScope) -> list[tuple[Table, pa.Table]]:
    """Return these tables for the jobs in scope, empty ones included; no table without a result.

    A damaged result has no rows: the export goes on.

    Raises:
        WarehouseUnavailableError: The lake cannot be read.
    """
    extract = choose_extracts("marts.job_results", scope)[0]
    jobs = engine.rows(
        f"select distinct job_id from marts.job_results where {extract.where} order by job_id",  # noqa: S608  # no user input; values are parameters
        extract.params,
    )
    rows: dict[str, list[Row]] = {table.name: [] for table in RESULT_TABLES}
    for job_id in (str(job["job_id"]) for job in jobs):
        try:
            result = read_result_document(engine, job_id)
        except WarehouseUnavailableError:
            continue
        if result is not None:
            tables = {
                "results.jobs": [_job_row(result)],
                "results.videos": _video_rows(result),
                **_coverage_rows(result),
            }
            for name, table_rows in tables.items():
                rows[name] += [{"job_id": job_id, **row} for row in table_rows]
    # A result names a scan if it is a copy; otherwise it is of the job's own scan.
    for row in rows["results.jobs"]:
        row["scan_job_id"] = row["scan_job_id"] or row["job_id"]
    if not rows["results.jobs"]:
        return []
    return [
        (table, pa.Table.from_pylist(rows[table.name], schema=table.schema))
        for table in RESULT_TABLES
    ]


def _job_row(result: ReadOnlyDocument) -> Row:
    discovery = result.get("discovery") or {}
    history = discovery.get("confirmed_graph_observation_history") or {}
    search = discovery.get("official_comprehensive_search") or {}
    parameters, keyword = result["parameters"], result.get("keyword")
    # Texts and lists may name people, so only `search_terms` has them, which pseudonyms leave out.
    without_texts = {
        name: value
        for name, value in parameters.items()
        if name == "sort_by" or not isinstance(value, str | list | tuple)
    }
    return {
        "scan_job_id": result.get("scan_job_id"),
        "kind": result.get("kind") or ("scan" if keyword is None else "search"),
        "music_id": result.get("music_id"),
        "title": keyword or (result.get("music") or {}).get("title"),
        "created_at": _time(result["created_at"]),
        "data_provider": result["data_provider"],
        "algorithm": result["algorithm"],
        "parameters": orjson.dumps(without_texts).decode(),
        "search_terms": parameters.get("search_keywords"),
        "confirmed_count": result["confirmed_count"],
        "candidate_count": result.get("candidate_pool_size"),
        "account_count": result.get("unique_account_count"),
        "variant_count": (result.get("variants") or {}).get("count"),
        "version_count": (result.get("versions") or {}).get("count"),
        "run_count": history.get("run_count"),
        "cumulative_confirmed_count": history.get("cumulative_confirmed_count"),
        "new_confirmed_count": history.get("new_confirmed_count"),
        "search_page_count": search.get("cursor_pages"),
        "search_observed_count": search.get("observed_union_count"),
    }


def _video_rows(result: ReadOnlyDocument) -> Iterator[Row]:
    # Which of these lists a result has depends on its kind.
    lists: Mapping[str, Sequence[ReadOnlyDocument]] = {
        "confirmed": result.get("ranked") or (),
        "variants": (result.get("variants") or {}).get("aweme_list") or (),
        "versions": (result.get("versions") or {}).get("aweme_list") or (),
        "search_related": (result.get("search_related") or {}).get("aweme_list") or (),
        "discovered": result.get("aweme_list") or (),
    }
    for name, videos in lists.items():
        for position, video in enumerate(videos):
            # Lists name the music id of a video in two ways.
            counts, music = video["statistics"], video.get("music") or {}
            yield {
                "result_list": name,
                "position": position,
                "aweme_id": video["aweme_id"],
                "sec_uid": (video.get("author") or {}).get("sec_uid"),
                "source_music_id": video.get("source_music_id") or music.get("id_str"),
                "link_type": video.get("link_type"),
                "kind": video.get("variant_kind"),
                "search_relevance_level": video.get("search_relevance_level"),
                "comparison_id": (video.get("evidence") or {}).get("comparison_id"),
                **{name: counts[name] for name in COUNTS},
                "statistics_complete": video["statistics_complete"],
                "create_time": video.get("create_time"),
                "created_at": _time(video.get("created_at")),
                **{column.name: column.value(video) for column in PACKAGE_VIDEO_COLUMNS},
            }


def _coverage_rows(result: ReadOnlyDocument) -> dict[str, list[Row]]:
    """Return the rows of each table on what a job read, tried and did not reach."""
    coverage = result["coverage"]
    pages = (result.get("search_related") or {}).get("pagination") or {}
    not_reached = [entry.partition(":") for entry in coverage["not_reached"]]
    audited_columns = ("aweme_id", "music_id", "verdict", "reason", "comparison_id")
    return {
        "results.list_shares": [
            {
                "music_id": share["music_id"],
                "row_count": share["rows"],
                "own_row_count": share["own_rows"],
                "audio_row_count": share.get("audio_rows"),
            }
            for share in coverage.get("list_genuine_share") or ()
        ],
        "results.search_terms": [
            {
                "position": position,
                "term": term["term"],
                "page_count": term["pages"],
                "item_count": term["items"],
                "new_item_count": term["new_items"],
                "is_finished": term["finished"],
                "stop_reason": term["stop_reason"],
            }
            for position, term in enumerate(pages.get("terms") or ())
        ],
        "results.source_decisions": [
            {
                "question": decision["question"],
                "surface": decision["surface"],
                "tried_count": decision["tried"],
                "answered_count": decision["answered"],
                "circuit_open_count": decision["left_closed"],
                "seldom_answers_count": decision["left_sick"],
                "held_back_count": decision["left_held_back"],
                "latest_answer_count": decision.get("latest_answers"),
                "latest_refusal_count": decision.get("latest_refusals"),
            }
            for decision in coverage.get("decisions") or ()
        ],
        "results.not_reached": [
            {"position": position, "surface": surface, "entity_id": entity_id}
            for position, (surface, _, entity_id) in enumerate(not_reached)
        ],
        "results.audited_videos": [
            {name: video.get(name) for name in audited_columns}
            for video in (coverage.get("audit") or {}).get("videos") or ()
        ],
    }


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
