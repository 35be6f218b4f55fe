"""Requests made up from the API description, valid, invalid and about things that exist.

`python -m benchmarks.fuzz.requests [--cases 100000] [--seed N]`. The whole service in this process,
over the demo world and real stores, with upkeep after each round, as a worker does it beside a
service: no 500, no answer outside its schema, none without the envelope.
"""

import argparse
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import schemathesis
import structlog
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.python.asgi import get_client
from starlette.types import ASGIApp

from api.process import build_app_from_settings
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from pipelines.orchestration.worker.maintenance import maintain_once
from sandbox.world.world import SandboxWorld

CHECKS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
KEYS = 11
ROUND = 100
SHOWN = 20
LONGEST = 600
PATIENCE_S = 60.0
SIZE, SEED = 0.2, 7
STREAMS = "/events"  # a live one does not end, so only unknown ids are asked for
SLOW = {
    "fetch_multi_video": 0.3,
    "discover": 0.2,
    "fetch_user_metrics": 0.3,
    "fetch_user_post_videos": 0.5,
    "video_list": 0.5,
}
"""Share of a round for operations whose every new id is a capture."""
console = Console(width=150)


@dataclass
class Found:
    """What came of the requests."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    spent_s: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return self.answers.total() + len(self.broken)


def main() -> int:
    options = _options()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wanted = settings_for(Path(folder))
        with service(wanted) as app:
            found = fuzz(
                app,
                cases=options.cases,
                number=options.seed,
                began=began,
                tidy=lambda: maintain_once(wanted),
            )
    _summary(found, time.monotonic() - began)
    return 1 if found.broken else 0


def settings_for(folder: Path) -> ApiSettings:
    """A fresh home of the demo world; nothing limits the service but its own rules."""
    return ApiSettings(
        _env_file=None,
        data_home=folder,
        data_provider="mock",
        mock_seed=SEED,
        mock_size=SIZE,
        allowed_hosts="testserver,localhost",
        rate_limit_per_s=0,
        sync_job_timeout=0.01,
        sync_request_timeout=2.0,
    )


@contextmanager
def service(wanted: ApiSettings) -> Iterator[ASGIApp]:
    """The service over its home, silent."""
    quiet = structlog.make_filtering_bound_logger(50)
    before = structlog.get_config()
    structlog.configure(wrapper_class=quiet)
    try:
        with build_app_from_settings(wanted, feed=JobBroadcaster(limit=4)) as app:
            yield app
    finally:
        structlog.configure(**before)


def fuzz(
    app: ASGIApp,
    *,
    cases: int,
    number: int,
    began: float,
    tidy: Callable[[], object] = lambda: None,
) -> Found:
    """Rounds over all operations until there were as many cases; `tidy` is called after each."""
    found = Found()
    known = known_ids()
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, timeout=PATIENCE_S)
    results: list[Any] = list(schema.get_all_operations())
    operations = [result.ok() for result in results]
    strategies = {operation.label: strategy_of(operation, known) for operation in operations}
    with get_client(cast("Any", app)) as client:
        turn = 0
        while found.cases < cases:
            for operation in operations:
                left = cases - found.cases
                share = next((part for name, part in SLOW.items() if name in operation.path), 1.0)
                drawn = min(left, max(1, round(ROUND * share)))
                if left:
                    _ask(
                        operation,
                        client,
                        found,
                        strategies[operation.label],
                        drawn,
                        number * 1000 + turn,
                    )
            turn += 1
            tidy()
            console.print(
                f"{found.cases:>9,} cases   {len(found.broken)} broken   "
                f"{time.monotonic() - began:.0f} s"
            )
    return found


def known_ids() -> dict[str, list[str]]:
    """Ids that the demo world has, by the names of parameters."""
    world = SandboxWorld(SEED, SIZE)
    music = [track.music_id for track in world.tracks]
    return {
        "music_id": music,
        "input": music,
        "sec_user_id": [world.sec_uid(index) for index in range(20)],
        "url": [f"see {world.sec_uid(index)}" for index in range(5)],
    }


def _ask(
    operation: Any,
    client: Any,
    found: Found,
    strategy: st.SearchStrategy[Any],
    drawn: int,
    number: int,
) -> None:
    def ask(case: schemathesis.Case[Any]) -> None:
        began = time.monotonic()
        try:
            answer = case.call(session=client, timeout=PATIENCE_S)
            found.spent_s[operation.label] += time.monotonic() - began  # type: ignore[assignment]  # seconds add up
            found.answers[operation.label, answer.status_code] += 1
            judge(case, answer)
        except Exception as error:  # noqa: BLE001 -- whatever comes is what is looked for
            _note(found, operation, case, error)

    warnings.simplefilter("ignore")  # about strategies, not about the service
    seed(number)(settings(_SETTINGS, max_examples=drawn)(given(case=strategy)(ask)))()


def judge(case: schemathesis.Case[Any], answer: Any) -> None:
    """Raises when the answer is not as described."""
    case.validate_response(answer, checks=CHECKS)
    assert answer.status_code != 500, "500"
    content = answer.content
    kinds = answer.headers.get("content-type", [""])
    if case.operation.path.startswith("/api/v1/") and content and "json" in kinds[0]:
        document = answer.json()
        assert len(document) == KEYS, "no envelope"
        assert document["code"] == answer.status_code, "another code"


def strategy_of(operation: Any, known: Mapping[str, list[str]]) -> st.SearchStrategy[Any]:
    """Valid, invalid, and valid requests about what exists."""
    strategies = [operation.as_strategy(), operation.as_strategy(GenerationMode.NEGATIVE)]
    named = {one.name for one in operation.query} & known.keys()
    if STREAMS not in operation.path:
        strategies += [
            operation.as_strategy(query={name: value})
            for name in named
            for value in known[name][:4]
        ]
    return st.one_of(strategies)


def _note(found: Found, operation: Any, case: schemathesis.Case[Any], error: Exception) -> None:
    why = f"{type(error).__name__}: {str(error)[:LONGEST]}"
    said = f"{operation.label}: {why}\n{case.as_curl_command()[:LONGEST]}"
    found.broken.append(said)
    if len(found.broken) <= SHOWN:
        console.print(said, markup=False)


_SETTINGS = settings(
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def _summary(found: Found, spent_s: float) -> None:
    by_operation: dict[str, Counter[int]] = {}
    for (label, status), times in found.answers.items():
        by_operation.setdefault(label, Counter())[status] += times
    table = Table("operation", "requests", "mean ms", "answers by status")
    for label, statuses in by_operation.items():
        summary = "  ".join(f"{status}: {times:,}" for status, times in sorted(statuses.items()))
        mean_ms = f"{found.spent_s[label] / statuses.total() * 1000:.0f}"
        table.add_row(label, f"{statuses.total():,}", mean_ms, summary)
    console.print(table)
    console.print(f"{found.cases:,} requests, {len(found.broken)} broken, {spent_s:.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
