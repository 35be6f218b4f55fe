"""SQL of users over HTTP: the library, the tables, statements, their files and their limits."""

import io
import json
import threading
from typing import Any

import pyarrow.parquet as pq
import pytest
from pydantic import TypeAdapter

from api.responses.documents import Envelope
from api.schemas.extensions.sql import QueryLibrary, SqlAnswer, TableList
from api.services.sql.query_process import Statement, StatementAnswer
from api.services.sql.runner import QueryCancelledError, StatementTicket
from api.services.sql.service import SqlService
from tests.fake_clock import PATIENCE_S
from tests.scripted_reads import ReadService

SQL = "/api/v1/sametrack/sql"


def ask(read_service: ReadService, **body: Any) -> Any:
    return read_service.client().post(SQL, json=body)


def refused(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 400
    error: dict[str, Any] = answer.json()["data"]["error"]
    return error


def test_the_library_and_the_tables_fit_their_schemas(reads: ReadService) -> None:
    client = reads.client()
    library = client.get("/api/v1/sametrack/queries").json()
    TypeAdapter(Envelope[QueryLibrary]).validate_python(library)
    top = next(one for one in library["data"]["queries"] if one["name"] == "top-videos")
    assert [one["name"] for one in top["parameters"]] == ["music_id", "top"]
    tables = client.get("/api/v1/sametrack/tables").json()
    TypeAdapter(Envelope[TableList]).validate_python(tables)
    assert {"marts.rankings", "raw.videos", "seen.videos"} <= {
        one["name"] for one in tables["data"]["tables"]
    }


def test_values_keep_their_meaning(reads: ReadService) -> None:
    statement = (
        "select '7300000000000000001' as id, 9007199254740993::bigint as large, null as nothing,"
        " timestamptz '2026-11-01 08:00:00+08' as at, date '2026-11-01' as day, 1.5 as part,"
        " true as flag, ['a', 'b'] as words, {'n': 1} as nested"
    )
    answer = ask(reads, sql=statement).json()
    TypeAdapter(Envelope[SqlAnswer]).validate_python(answer)
    assert answer["data"]["rows"] == [
        [
            "7300000000000000001", "9007199254740993", None, "2026-11-01T00:00:00Z", "2026-11-01",
            1.5, True, ["a", "b"], {"n": 1},
        ]
    ]  # fmt: skip
    kinds = {one["name"]: one["kind"] for one in answer["data"]["columns"]}
    assert (kinds["id"], kinds["large"], kinds["at"]) == ("text", "whole", "time")


def test_rows_beyond_the_limit_are_cut_and_that_is_said(reads: ReadService) -> None:
    data = ask(reads, sql="select i from range(4) t(i) order by i desc", row_limit=3).json()["data"]
    assert (data["rows"], data["returned_count"], data["is_cut"]) == ([[3], [2], [1]], 3, True)
    whole = ask(reads, sql="select i from range(3) t(i)", row_limit=3).json()["data"]
    assert (whole["returned_count"], whole["is_cut"]) == (3, False)


def test_a_named_query_takes_its_parameters_or_their_defaults(reads: ReadService) -> None:
    answer = ask(reads, query="top-videos", parameters={"top": "3"}).json()
    assert (answer["data"]["query"], answer["data"]["rows"]) == ("top-videos", [])
    assert answer["params"]["parameters"] == {"top": "3"}
    assert refused(ask(reads, query="top-videos", parameters={"tip": 3}))["hint"] == (
        "did you mean top?"
    )
    assert (
        "not a whole number"
        in refused(ask(reads, query="top-videos", parameters={"top": "x"}))["detail"]
    )


def test_sql_route_reads_as_of_a_date(reads: ReadService) -> None:
    data = ask(reads, sql="select count(*) as n from seen.videos", as_of="2026-01-31").json()[
        "data"
    ]
    assert (data["rows"], data["as_of"]) == ([[0]], "2026-01-31T23:59:59.999999Z")
    assert "neither a date" in refused(ask(reads, sql="select 1", as_of="soon"))["detail"]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "`sql` is required"),
        ({"sql": "select 1", "query": "growth"}, "cannot be combined"),
        ({"query": "top-video"}, "no query 'top-video'"),
        ({"sql": "select 1; select 2"}, "one read-only statement"),
        ({"sql": "delete from marts.rankings"}, "one read-only statement"),
        ({"sql": "copy (select 1) to 'x.csv'"}, "one read-only statement"),
        ({"sql": "select * from read_csv('/etc/passwd')"}, "only the tables of this warehouse"),
        ({"sql": "select rankk from marts.rankings"}, "rankk"),
        ({"sql": "select $n"}, "parameters: n"),
        ({"sql": "from glob('/*')"}, "only the tables of this warehouse"),
        ({"sql": "select 1", "row_limit": 10_001}, "row_limit"),
        ({"sql": "select $a", "parameters": {"a": 2**63}}, "`parameters.a`"),
        ({"sql": "select $a", "parameters": {"a": -(2**63) - 1}}, "`parameters.a`"),
        ({"sql": "select $a", "parameters": {"a": [1]}}, "parameters.a"),
        ({"query": "top-videos", "parameters": {"top": str(2**63)}}, "at most 64 bits"),
        ({"sql": ""}, "sql"),
    ],
)
def test_sql_route_refuses_invalid_bodies_and_statements(
    reads: ReadService, body: dict[str, Any], detail: str
) -> None:
    assert detail in refused(ask(reads, **body))["detail"]


@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_a_number_beyond_all_real_ones_is_no_parameter(reads: ReadService, number: str) -> None:
    answer = reads.client().post(
        SQL,
        content=f'{{"sql": "select $a", "parameters": {{"a": {number}}}}}',
        headers={"content-type": "application/json"},
    )
    assert "a number of at most 64 bits" in refused(answer)["detail"]


def test_a_parameter_is_kept_exactly_up_to_64_bits(reads: ReadService) -> None:
    for number in (2**63 - 1, -(2**63)):
        rows = ask(reads, sql="select $a", parameters={"a": number}).json()["data"]["rows"]
        assert rows == [[str(number)]]
    assert ask(reads, sql="select $a", parameters={"a": 1.5}).json()["data"]["rows"] == [[1.5]]


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "xlsx"])
def test_an_answer_is_saved_in_every_format(reads: ReadService, form: str) -> None:
    answer = reads.client().post(
        f"{SQL}/export", json={"sql": "select 1 as one, null as none", "form": form}
    )
    assert answer.status_code == 200
    name = answer.headers["content-disposition"]
    assert name.startswith('attachment; filename="sametrack-demo-sql-')
    assert name.endswith(f'.{form}"')
    if form == "csv":
        assert answer.text == "one,none\r\n1,\r\n"
    if form == "json":
        assert answer.json()["rows"] == [{"one": 1, "none": None}]
        assert answer.json()["method"]["is_demo_data"] == "true"
    if form == "parquet":
        reported = pq.read_schema(io.BytesIO(answer.content)).metadata
        assert reported[b"sametrack.sql"] == b"select 1 as one, null as none"


def test_a_file_is_whole_or_refused(reads: ReadService) -> None:
    body = {"sql": "from range(100001)", "form": "csv"}
    error = refused(reads.client().post(f"{SQL}/export", json=body))
    assert (error["type"], error["detail"]) == (
        "query_limit_exceeded",
        "the answer has more than 100,000 rows",
    )


def test_an_answer_too_large_to_send_is_refused(reads: ReadService) -> None:
    error = refused(ask(reads, sql="select repeat('x', 1000000) as x from range(40)"))
    assert (error["type"], error["detail"]) == (
        "query_limit_exceeded",
        "the answer has more than 32 MB",
    )


class EndlessRunner:
    """Runs one statement until whoever asked for it is gone."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def open_ticket(self) -> StatementTicket:
        return StatementTicket(lambda _ticket: self._cancelled.set())

    def run(self, statement: Statement, ticket: StatementTicket | None = None) -> StatementAnswer:
        assert ticket is not None
        assert self._cancelled.wait(PATIENCE_S), f"nobody cancelled {statement.sql}"
        raise QueryCancelledError("the statement was cancelled")


@pytest.mark.parametrize(
    ("path", "body"),
    [(SQL, {"sql": "select 1"}), (f"{SQL}/export", {"sql": "select 1", "form": "csv"})],
    ids=["rows", "file"],
)
async def test_a_client_that_goes_away_cancels_its_statement(
    service: Any, path: str, body: dict[str, Any]
) -> None:
    service.sql = SqlService(EndlessRunner(), is_demo=True)
    late: dict[str, Any] = {"type": "http.request", "body": b"", "more_body": False}
    coming = [{**late, "body": json.dumps(body).encode()}, late, {"type": "http.disconnect"}]
    sent: list[dict[str, Any]] = []

    async def receive() -> Any:
        return coming.pop(0) if len(coming) > 1 else coming[0]

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 80),
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
    }  # fmt: skip
    await service.app()(scope, receive, send)
    assert sent[0]["status"] == 204
    assert b"".join(message.get("body", b"") for message in sent) == b""


def test_sql_routes_need_a_profile(service: Any) -> None:
    client = service.client()
    for answer in (
        client.get("/api/v1/sametrack/queries"),
        client.get("/api/v1/sametrack/tables"),
        client.post(SQL, json={"sql": "select 1"}),
    ):
        assert answer.json()["data"]["error"]["type"] == "profile_not_chosen"
