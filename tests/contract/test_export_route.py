"""Tables to take along, compared pairs and points over time, as the service answers them."""

import csv
import io
import json
import re
import zipfile
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.responses.documents import Envelope
from api.routes.dependencies import Services
from api.schemas.extensions.exports import ComparisonList, JobReads, Series
from api.server.health import Readiness
from api.services.exports.tables import TABLES as TABLES_OF_EXPORTS
from api.services.job_document import JOBS_PATH
from api.settings import ApiSettings
from pipelines.documents.column_messages import COLUMNS
from sandbox.mock.provider import open_world
from tests.scripted_reads import ReadService
from tests.stored_results import result, variant, version, with_variants, with_versions
from warehouse.records.errors import ChartUnavailableError

WORLD = open_world(11, 0.1)
EXPORT = "/api/v1/sametrack/export"
TABLES = ("videos", "accounts", "variants", "search_related", "coverage")


@pytest.fixture
def source(service: Any) -> str:
    document = result(3)
    document["ranked"][0]["desc"] = "=1+1"
    return f"{JOBS_PATH}/{service.stored(document).job_id}"


def take(service: Any, source: str, table: str, form: str, **more: Any) -> Any:
    asked = {"source": source, "table": table, "form": form, **more}
    return service.client().get(EXPORT, params=asked)


def test_a_ranking_becomes_a_sheet_whose_ids_are_text(service: Any, source: str) -> None:
    answer = take(service, source, "videos", "csv", bom="true")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))
    assert answer.content.startswith(b"\xef\xbb\xbf")
    name = unquote(answer.headers["content-disposition"].partition("UTF-8''")[2])
    assert name.endswith(" – ranking – 2026-01-31 – demo data.csv")
    assert (len(rows), rows[0]["is_demo_data"]) == (3, "True")
    assert "'=1+1" in {row["desc"] for row in rows}
    assert rows[0]["aweme_id"].isdigit()


def test_a_ranking_with_variants_is_exported_with_them_marked(service: Any) -> None:
    job = service.stored(with_variants(result(3), variant(1, likes=10_000)))
    ranking = f"/api/v1/sametrack/jobs/{job.job_id}/ranking"

    def kinds(source: str) -> list[str]:
        rows = take(service, source, "videos", "csv").text.splitlines()
        return [row["variant_kind"] for row in csv.DictReader(rows)]

    assert kinds(ranking) == ["", "", ""]
    assert kinds(f"{ranking}?include_variants=true") == ["speed", "", "", ""]


def test_versions_are_exported_with_their_scores(service: Any, source: str) -> None:
    job = service.stored(with_versions(result(3), version(1, score=0.9), version(2, score=0.6)))
    place = f"{JOBS_PATH}/{job.job_id}"
    rows = list(csv.DictReader(take(service, place, "versions", "csv").text.splitlines()))
    assert [row["version_score"] for row in rows] == ["0.9", "0.6"]
    assert {row["source_music_title"] for row in rows} == {"Paper Boats, live"}
    assert take(service, source, "versions", "csv").text.count("\n") == 1, "not looked for: none"


def test_a_workbook_brings_method_and_coverage(service: Any, source: str) -> None:
    book = zipfile.ZipFile(io.BytesIO(take(service, source, "videos", "xlsx").content))
    texts = book.read("xl/sharedStrings.xml").decode()
    assert "method_and_coverage" in book.read("xl/workbook.xml").decode()
    assert all(
        text in texts for text in ("algorithm", "music_list", "exhausted", "never a full list")
    )


def test_an_exported_ranking_brings_the_error_sheet_of_its_scan(service: Any, source: str) -> None:
    book = zipfile.ZipFile(io.BytesIO(take(service, source, "videos", "xlsx").content))
    sheets = re.findall('<sheet name="([^"]+)"', book.read("xl/workbook.xml").decode())
    assert sheets[-1] == "Limits of this data"
    sheet = take(service, source, "videos", "json").json()["error_sheet"]
    answers = {row["number"]: row["answer"] for row in sheet}
    assert "confirmed videos of" in answers["1.4"]
    assert answers["1.1"].startswith("Not known to Sametrack")


@pytest.mark.parametrize(
    ("language", "headings", "sheets"),
    [
        ("en", {"Likes", "Published (UTC)", "Link"}, ["Ranking", "Limits of this data"]),
        ("zh", {"点赞", "发布时间（UTC）", "关联方式"}, ["排行", "数据局限"]),
    ],
)
def test_a_workbook_has_headings_in_words_of_the_chosen_language(
    service: Any, source: str, language: str, headings: set[str], sheets: list[str]
) -> None:
    answer = take(service, source, "videos", "xlsx", language=language)
    book = zipfile.ZipFile(io.BytesIO(answer.content))
    texts = set(re.findall("<t[^>]*>([^<]*)</t>", book.read("xl/sharedStrings.xml").decode()))
    assert headings <= texts
    assert not {"digg_count", "create_time", "link_type", "exact_music_id"} & texts
    names = re.findall('<sheet name="([^"]+)"', book.read("xl/workbook.xml").decode())
    assert [names[0], names[-1]] == sheets


def test_files_for_programs_keep_the_names_of_columns_in_every_language(
    service: Any, source: str
) -> None:
    plain = take(service, source, "videos", "csv").content
    assert take(service, source, "videos", "csv", language="zh").content == plain
    assert plain.startswith(b"rank,aweme_id,")
    rows = take(service, source, "videos", "json", language="zh").json()["rows"]
    assert {row["link_type"] for row in rows} <= {"exact_music_id", "audio_fingerprint_match"}


def test_a_file_has_the_rows_and_columns_that_are_shown(service: Any, source: str) -> None:
    whole = take(service, source, "videos", "json").json()["rows"]
    account = whole[1]["sec_uid"]
    answer = take(
        service,
        source,
        "videos",
        "json",
        columns="aweme_id,digg_count",
        order="-digg_count",
        account=account.upper(),
    ).json()
    shown = [row for row in whole if account in row["sec_uid"]]
    ordered = sorted(shown, key=lambda row: -row["digg_count"])
    assert [(row["aweme_id"], row["digg_count"]) for row in answer["rows"]] == [
        (row["aweme_id"], row["digg_count"]) for row in ordered
    ]
    assert list(answer["rows"][0]) == ["aweme_id", "digg_count", "is_demo_data"]
    assert json.loads(answer["method"]["view"])["order"] == "-digg_count"


def test_a_ranking_in_another_view_says_with_which_parameters(service: Any, source: str) -> None:
    job_id = source.rpartition("/")[2]
    view = f"/api/v1/sametrack/jobs/{job_id}/ranking?sort_by=share&viral_threshold=7"
    method = take(service, view, "videos", "json").json()["method"]
    parameters = json.loads(method["parameters"])
    assert (parameters["sort_by"], parameters["viral_threshold"]) == ("share", 7)


def test_a_column_that_the_table_lacks_is_refused_with_those_it_has(
    service: Any, source: str
) -> None:
    for more in ({"columns": "likes"}, {"order": "likes"}, {"verdict": "confirmed"}):
        answer = take(service, source, "accounts", "csv", **more)
        error = answer.json()["data"]["error"]
        assert (answer.status_code, error["type"]) == (400, "invalid_parameter")
        assert "linked_video_count" in error["hint"]


def test_compared_pairs_are_named_after_their_track(service: Any, source: str) -> None:
    job_id = source.rpartition("/")[2]
    pairs = f"/api/v1/sametrack/jobs/{job_id}/comparisons"
    ranking = take(service, source, "videos", "csv").headers["content-disposition"]
    header = take(service, pairs, "comparisons", "csv").headers["content-disposition"]
    title = unquote(ranking.partition("UTF-8''")[2]).partition(" – ")[0]
    assert unquote(header.partition("UTF-8''")[2]).startswith(f"{title} – comparisons – ")


def test_every_column_of_an_export_has_a_heading_in_both_languages() -> None:
    names = {column.name for columns, _ in TABLES_OF_EXPORTS.values() for column in columns}
    assert names - set(COLUMNS) == set()


def test_parquet_keeps_types_and_says_where_it_is_from(service: Any, source: str) -> None:
    found = pq.read_table(io.BytesIO(take(service, source, "videos", "parquet").content))
    assert str(found.schema.field("aweme_id").type) == "string"
    assert str(found.schema.field("digg_count").type) == "int64"
    assert found.schema.metadata[b"sametrack.source"].decode() == source


@pytest.mark.parametrize("table", TABLES)
def test_every_table_of_a_result_is_there(service: Any, source: str, table: str) -> None:
    document = take(service, source, table, "json").json()
    assert document["table"] == table
    assert document["method"]["is_demo_data"] == "true"


@pytest.mark.parametrize(
    ("source", "table", "status", "type_"),
    [
        ("/api/v1/sametrack/export?x=1", "videos", 400, "invalid_parameter"),
        ("https://an.example/api", "videos", 400, "invalid_parameter"),
        ("//[abc", "videos", 400, "invalid_parameter"),
        ("http://[::1/api", "videos", 400, "invalid_parameter"),
        (f"{JOBS_PATH}/nowhere", "chart", 400, "invalid_parameter"),
        (f"{JOBS_PATH}/nowhere", "videos", 404, "job_not_found"),
    ],
)
def test_export_refuses_responses_without_a_table(
    service: Any, source: str, table: str, status: int, type_: str
) -> None:
    answer = take(service, source, table, "csv")
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (status, type_)


def test_a_job_without_a_result_has_no_table(service: Any) -> None:
    started = service.client().post(JOBS_PATH, json={"input": "7300000000000000009"})
    answer = take(service, started.headers["location"], "videos", "csv")
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (404, "not_found")


def test_an_exported_chart_says_what_is_not_collected_and_when_to_ask_again(
    reads: ReadService,
) -> None:
    ask = {
        "source": "/api/v1/music/chartsrc/top500/history?start_date=2022-03-01&end_date=2022-03-21",
        "table": "chart", "form": "json",
    }  # fmt: skip
    refusal = ChartUnavailableError("no chart", surface="chart_songs")
    client = reads.client()
    client.get(EXPORT, params=ask | {"source": ask["source"].replace("03-21", "03-11")})
    reads.script.errors = {"fetch_songs": refusal}
    answer = client.get(EXPORT, params=ask)
    assert answer.headers["retry-after"] == "60"
    found = answer.json()
    assert (found["method"]["node_count"], found["method"]["collected_count"]) == ("3", "2")
    assert found["rows"][-1]["reason"] == "chart_unavailable"


def test_exports_need_the_token(service: Any, source: str) -> None:
    client = service.client(own_api_token="sesam-42-sesam-42-sesam-42")
    asked = {"source": source, "table": "videos", "form": "csv"}
    assert client.get(EXPORT, params=asked).status_code == 401


def test_compared_pairs_of_a_job_are_listed(service: Any, source: str) -> None:
    job_id = source.rpartition("/")[2]
    answer = service.client().get(f"/api/v1/sametrack/jobs/{job_id}/comparisons").json()
    Envelope[ComparisonList].model_validate(answer)
    assert answer["data"]["comparisons"] == []
    missing = service.client().get("/api/v1/sametrack/jobs/nowhere/comparisons")
    assert missing.json()["data"]["error"]["type"] == "job_not_found"


@pytest.mark.parametrize("kind", ["video", "track", "account"])
def test_series_is_empty_without_observations(reads: ReadService, kind: str) -> None:
    answer = reads.client().get(f"/api/v1/sametrack/series/{kind}/7300000000000000009").json()
    Envelope[Series].model_validate(answer)
    assert (answer["data"]["points"], answer["data"]["name"]) == ([], None)


def test_a_read_profile_is_a_point_in_time(reads: ReadService) -> None:
    client = reads.client()
    person = WORLD.sec_uid(3)
    profile = client.get(
        "/api/v1/vidplat/app/v3/handler_user_profile", params={"sec_user_id": person}
    ).json()["data"]["user"]
    reads.engine.refresh()
    answer = client.get(f"/api/v1/sametrack/series/account/{person}").json()
    Envelope[Series].model_validate(answer)
    assert answer["data"]["points"][-1]["follower_count"] == profile["follower_count"]
    assert json.dumps(answer["data"]["measures"]).count("follower_count") == 1


def test_a_job_that_nothing_was_read_for_says_so_and_an_unknown_one_is_missing(
    service: Any, reads: ReadService
) -> None:
    app = create_app(
        Services(
            readiness=Readiness({}), scan_service=service.scan_service(), sources=reads.sources
        ),
        settings=ApiSettings(_env_file=None, rate_limit_per_s=0),
    )
    client = TestClient(app, base_url="http://127.0.0.1")
    started = client.post(JOBS_PATH, json={"input": "7300000000000000009"}).json()["data"]["job_id"]
    answer = client.get(f"/api/v1/sametrack/jobs/{started}/reads").json()
    Envelope[JobReads].model_validate(answer)
    assert answer["data"]["reads"] == []
    assert client.get("/api/v1/sametrack/jobs/nowhere/reads").status_code == 404


def test_a_json_export_is_described_as_the_object_that_it_is(service: Any) -> None:
    paths = service.client().get("/openapi.json").json()["paths"]
    content = paths["/api/v1/sametrack/export"]["get"]["responses"]["200"]["content"]
    schema = content["application/json"]["schema"]
    assert schema["type"] == "object"
    assert {"table", "method", "rows"} <= set(schema["properties"])
    assert content["text/csv"]["schema"]["type"] == "string"
