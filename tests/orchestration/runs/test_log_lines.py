"""Every line of a log is one JSON object with time, level, logger and message."""

import io
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import structlog

from pipelines.logs import configure_process_logging, to_log_lines, to_plain_text, write_line

ROOT = str(Path(__file__).parents[3])
REFUSED = """\
2026-11-28 20:36:14 +0000 - dagster - ERROR - scan - e482 - 20682 - STEP_FAILURE - Step "a" failed.

dagster._core.definitions.events.Failure: invalid_music_input: There is no such track.

Stack Trace:
  File "/somewhere/x.py", line 57, in boundary
    yield
2026-11-28 20:36:15 +0000 - dagster - DEBUG - scan - e482 - 20682 - ENGINE_EVENT - Finished
"""


@pytest.fixture
def written() -> Iterator[io.BytesIO]:
    """What this process logs; everything that is configured for it is put back afterwards."""
    before = structlog.get_config()
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    handlers = logging.getLogger().handlers[:]
    stream = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            configure_process_logging(into=stream)
            yield stream
    finally:
        logging.captureWarnings(False)
        logging.getLogger().handlers[:] = handlers
        sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
        structlog.configure(**before)


def entries(text: bytes) -> list[dict[str, Any]]:
    found = [orjson.loads(line) for line in text.splitlines()]
    assert all(list(entry)[:4] == ["time", "level", "logger", "message"] for entry in found)
    return found


def wrapped(text: str) -> list[dict[str, Any]]:
    return entries(b"".join(to_log_lines(text.encode(), logger="worker")))


def test_our_lines_those_of_libraries_and_warnings_have_the_same_fields(written: Any) -> None:
    with structlog.contextvars.bound_contextvars(job_id="j"):
        structlog.get_logger("ours").info("scan ended", status="failed")
        logging.getLogger("theirs").warning("retry %d", 2)
    warnings.warn("old\nname", UserWarning, stacklevel=1)
    ours, theirs, warning = entries(written.getvalue())
    assert (ours["logger"], ours["message"], ours["job_id"]) == ("ours", "scan ended", "j")
    assert (theirs["logger"], theirs["message"], theirs["job_id"]) == ("theirs", "retry 2", "j")
    assert "old\nname" in warning["message"]


def test_an_uncaught_error_is_one_line_with_its_traceback_as_a_field(written: Any) -> None:
    def fail() -> None:
        raise ValueError("a\nfault")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    (entry,) = entries(written.getvalue())
    assert entry["level"] == "error"
    assert "ValueError: a\nfault" in entry["exception"]
    assert 'File "tests/orchestration/runs/test_log_lines.py"' in entry["exception"]


def test_paths_of_the_installation_are_cut_to_what_follows_them(written: Any) -> None:
    log = structlog.get_logger("ours")
    log.error("broken", path=f"{ROOT}/pipelines/logs.py", module=orjson.__file__)
    log.info("answered", path="/api/v1/vidplat/app/v3")
    broken, answered = entries(written.getvalue())
    assert broken["path"] == "pipelines/logs.py"
    assert broken["module"] == "orjson/__init__.py"
    assert answered["path"] == "/api/v1/vidplat/app/v3"


def test_values_that_json_does_not_have_are_written_as_text(written: Any) -> None:
    structlog.get_logger("ours").info("said", big=2**70, lone="\ud800", thing=Path("x"))
    (entry,) = entries(written.getvalue())
    assert (entry["lone"], entry["thing"]) == ("?", "PosixPath('x')")


def test_text_of_a_program_is_wrapped_and_its_own_lines_stay_as_they_are() -> None:
    line = '{"time":"t","level":"info","logger":"x","message":"m","n":1}'
    found = wrapped(f'hello\nworld\n{line}\n{{"port": 1}}\n\n')
    assert [entry["message"] for entry in found] == ["hello\nworld", "m", '{"port": 1}']
    assert found[0]["logger"] == "worker"


def test_a_traceback_of_a_program_is_one_error() -> None:
    (entry,) = wrapped(
        'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: no\n'
    )
    assert (entry["level"], entry["message"]) == ("error", "ValueError: no")
    assert entry["exception"].startswith("Traceback")


def test_a_stated_failure_of_a_launched_run_is_a_line_without_a_traceback() -> None:
    failed, finished = wrapped(REFUSED)
    assert failed["level"] == "error"
    assert failed["message"].endswith("invalid_music_input: There is no such track.")
    assert "exception" not in failed
    assert finished["level"] == "debug"


def test_a_person_reads_the_message_not_json() -> None:
    line = '{"time":"t","level":"info","logger":"x","message":"scan ended","status":"failed"}'
    assert list(to_plain_text([line, "plain"])) == ["scan ended status=failed", "plain"]


def test_a_log_that_nobody_reads_any_more_ends_no_program() -> None:
    lines: list[bytes] = []

    class Closed:
        def write(self, line: bytes) -> None:
            lines.append(line)
            raise BrokenPipeError

        def flush(self) -> None: ...

    write_line(Closed(), b"{}")
    assert lines == [b"{}\n"]
