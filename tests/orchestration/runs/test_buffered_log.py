"""Log lines that are written a moment later: all of them, in order, as JSON."""

import io
import threading

import orjson
import structlog

from pipelines.logs import BufferedLogWriter, configure_logging


def test_no_line_is_lost_at_the_end_and_all_are_in_order() -> None:
    stream = io.BytesIO()
    lines = BufferedLogWriter(stream)
    for number in range(1_000):
        lines.note({"number": number})
    lines.close()
    found = [orjson.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["number"] for line in found] == list(range(1_000))
    assert {line["level"] for line in found} == {"info"}


def test_lines_of_many_threads_stay_whole() -> None:
    stream = io.BytesIO()
    lines = BufferedLogWriter(stream)

    def write() -> None:
        for _ in range(200):
            lines.note({"text": "x" * 500})

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines.close()
    found = stream.getvalue().splitlines()
    assert len(found) == 800
    assert {orjson.loads(line)["text"] for line in found} == {"x" * 500}


def test_the_common_logger_writes_json_with_the_time_and_keeps_hostile_text_inside() -> None:
    stream = io.BytesIO()
    before = structlog.get_config()
    configure_logging(into=stream)
    try:
        structlog.get_logger("x").info("said", text='a"\n{"forged": 1}')
    finally:
        structlog.configure(**before)
    (line,) = stream.getvalue().splitlines()
    found = orjson.loads(line)
    assert (found["message"], found["text"]) == ("said", 'a"\n{"forged": 1}')
    assert found["time"][10] == "T"
    assert found["time"].endswith("Z")
