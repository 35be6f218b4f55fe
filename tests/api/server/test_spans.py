"""Spans for OpenTelemetry: of requests and captures, without a word about whom they were for.

In a process of its own: a provider can be set once only.
"""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

pytestmark = pytest.mark.full

PROGRAM = """
import json, os, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient
from api.app import create_app
from api.routes.dependencies import Services
from api.server.health import Readiness
from api.settings import ApiSettings
from pipelines.captures.recording import capture_span
from pipelines.captures.tracing import start_tracing
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
sends = start_tracing()
os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:1"
sys.modules["opentelemetry.exporter"] = None  # the extra is not installed
start_tracing.cache_clear()
sends_without_the_extra = start_tracing()
print(json.dumps({"spans": spans, "sends": [sends, sends_without_the_extra]}))
"""


@pytest.mark.soak
def test_spans_tell_nothing_about_anybody_and_an_address_alone_sends_none() -> None:
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, check=True, env={},
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    answer = orjson.loads(said.stdout.splitlines()[-1])
    assert answer["sends"] == [False, False]
    assert b"the extra `telemetry` is not installed" in said.stdout + said.stderr
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
