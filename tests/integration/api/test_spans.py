"""Spans for OpenTelemetry: of requests and captures, without a word about whom they were for.

In a process of its own: a provider can be set once only.
"""

import subprocess
import sys
from pathlib import Path

import orjson

PROGRAM = """
import asyncio, json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient
from api.app import create_app
from api.routes.dependencies import Services
from api.server.health import Readiness
from api.settings import ApiSettings
from pipelines.captures.recording.tracing import capture_span, start_tracing
from warehouse.records.errors import EmptyAnswerError

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
settings = ApiSettings(_env_file=None, own_api_token="sesam-42")
app = create_app(Services(readiness=Readiness({})), settings=settings)
with TestClient(app, base_url="http://127.0.0.1") as client:
    path = "/api/v1/vidplat/app/v3/music_collection_jobs/none"
    client.get(path, headers={"x-api-key": "sesam-42"})
with capture_span("music_list"):
    pass
try:
    with capture_span("user_info"):
        raise EmptyAnswerError("nothing for 4711", surface="user_info")
except EmptyAnswerError:
    pass
spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
print(json.dumps({"spans": spans, "sends": start_tracing()}))
"""


def run(**environment: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        check=True,
        env=environment,
        cwd=Path(__file__).parents[3],
    )


def test_requests_and_captures_have_spans_that_tell_nothing_about_anybody() -> None:
    answer = orjson.loads(run().stdout.splitlines()[-1])
    spans = {span["name"]: span for span in answer["spans"]}
    template = "/api/v1/vidplat/app/v3/music_collection_jobs/{job_id}"
    assert any(template in name for name in spans)
    assert spans["capture music_list"]["attributes"] == {"sametrack.surface": "music_list"}
    failed = spans["capture user_info"]
    assert failed["attributes"]["error.type"] == "upstream_empty"
    assert failed["status"]["status_code"] == "ERROR"
    text = repr(answer["spans"])
    assert "sesam-42" not in text
    assert "4711" not in text
    assert answer["sends"] is False


def test_without_the_extra_an_address_alone_sends_nothing_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        'import sys\nsys.modules["opentelemetry.exporter"] = None\n'
    )
    found = run(PYTHONPATH=str(tmp_path), OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    assert orjson.loads(found.stdout.splitlines()[-1])["sends"] is False
    assert b"the extra `telemetry` is not installed" in found.stdout + found.stderr
