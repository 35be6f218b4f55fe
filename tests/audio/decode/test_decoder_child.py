"""What a decoder child does with its requests, and what it gives up before the first file."""

import hashlib
import io
import json
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.audio.decode import decoder_process as child
from pipelines.audio.decode import decoding
from pipelines.audio.decode.protocol import FRAME, DecodeLimits, DecoderRequest, Task
from pipelines.audio.features.sounds import unpack_features
from tests.audio.decode.test_decode_refusals import as_wav, tone

PARENT = 4711


class FakeSystem:
    """The parts of the system that a child uses to bind itself; nothing happens to this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.controls: list[tuple[int, int]] = []
        self.limits: dict[int, tuple[int, int]] = {}
        self.signals: dict[int, Any] = {}
        self.parent_pid = PARENT
        library = SimpleNamespace(prctl=lambda what, value, *_: self.controls.append((what, value)))
        monkeypatch.setattr(child, "ctypes", SimpleNamespace(CDLL=lambda *_, **__: library))
        monkeypatch.setattr(child, "os", SimpleNamespace(getppid=lambda: self.parent_pid))
        for module, name, taken in (
            (resource, "setrlimit", self.limits), (signal, "signal", self.signals),
        ):  # fmt: skip
            known = {**vars(module), name: taken.__setitem__}
            monkeypatch.setattr(child, module.__name__, SimpleNamespace(**known))


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> FakeSystem:
    return FakeSystem(monkeypatch)


def replies(written: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Read the messages that a child wrote."""
    stream = io.BytesIO(written)
    while header := stream.read(FRAME.size):
        head, payload = FRAME.unpack(header)
        yield json.loads(stream.read(head)), stream.read(payload)


def serve(
    monkeypatch: pytest.MonkeyPatch, *requests: dict[str, Any], limits: DecodeLimits | None = None
) -> list[tuple[dict[str, Any], bytes]]:
    """Run a child until its parent closes the pipe; return its replies without the first."""
    lines = "".join(f"{json.dumps(one)}\n" for one in requests)
    answers = io.BytesIO()
    pipe = SimpleNamespace(buffer=io.BytesIO(lines.encode()))
    given = (limits or DecodeLimits()).to_json()
    words = SimpleNamespace(argv=["child", str(PARENT), given], stdin=pipe, platform="linux")
    monkeypatch.setattr(child, "sys", words)
    monkeypatch.setattr(child, "reserve_stdout", lambda: answers)
    monkeypatch.setattr(child, "warm_up", lambda: None)
    child.main()
    ready, *found = replies(answers.getvalue())
    assert ready == ({}, b"")
    return found


@pytest.mark.usefixtures("system")
def test_each_request_is_answered_in_turn_until_the_pipe_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = str(as_wav(tmp_path / "tone.wav", tone()))
    measured, cut, missing = serve(
        monkeypatch,
        {"path": path, "task": "measure", "stretch": None},
        {"path": path, "task": "cut", "stretch": [1.0, 1.5]},
        {"path": str(tmp_path / "gone.wav"), "task": "measure", "stretch": None},
    )
    head, packed = measured
    assert (head["codec"], head["sample_rate_hz"], head["duration_s"]) == ("pcm_s16le", 44_100, 3.0)
    assert head["sha256"] == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert unpack_features(packed).chroma.size > 0
    assert cut[0] == {}
    assert cut[1][:3] == b"ID3" or cut[1][0] == 0xFF
    assert missing == ({"sha256": None, "reason": "file_missing"}, b"")


def test_a_child_may_write_no_file_and_leaves_no_core(system: FakeSystem) -> None:
    child.limit_resources(64)
    assert system.limits == {
        resource.RLIMIT_AS: (64 << 20, 64 << 20),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
    }


def test_a_child_dies_with_its_parent_and_leaves_ctrl_c_to_it(system: FakeSystem) -> None:
    child.exit_with_parent(PARENT)
    assert (child.PR_SET_PDEATHSIG, signal.SIGKILL) in system.controls
    assert (child.PR_SET_NO_NEW_PRIVS, 1) in system.controls
    assert system.signals == {signal.SIGINT: signal.SIG_IGN}


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_child_whose_parent_is_gone_already_does_nothing(
    system: FakeSystem, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    system.parent_pid = 1
    monkeypatch.setattr(child, "sys", SimpleNamespace(platform=platform, exit=sys.exit))
    with pytest.raises(SystemExit) as ended:
        child.exit_with_parent(PARENT)
    assert ended.value.code == 0
    assert bool(system.controls) is (platform == "linux")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), "out_of_memory"),
        (OSError("no such device"), "file_unreadable"),
    ],
    ids=["memory", "disk"],
)
@pytest.mark.parametrize(("task", "stretch"), [("measure", None), ("cut", [1.0, 1.5])])
def test_decoder_child_reports_memory_and_disk_errors_as_reasons(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, reason: str,
    task: Task, stretch: list[float] | None,
) -> None:  # fmt: skip
    def broken(*_: object, **__: object) -> Any:
        raise error

    path = as_wav(tmp_path / "tone.wav", tone())
    monkeypatch.setattr(decoding, "decode_sound", broken)
    monkeypatch.setattr(decoding, "cut_sound", broken)
    order = DecoderRequest(path=str(path), task=task, stretch=stretch)
    head, payload = child.handle_request(order, DecodeLimits())
    assert (head["reason"], payload) == (reason, b"")
    assert ("sha256" in head) is (task == "measure")


def test_a_file_that_is_refused_says_why(tmp_path: Path) -> None:
    path = as_wav(tmp_path / "short.wav", tone(0.5))
    tasks: list[tuple[Task, list[float] | None]] = [("measure", None), ("cut", [0.0, 2.0])]
    for task, stretch in tasks:
        order = DecoderRequest(path=str(path), task=task, stretch=stretch)
        head, payload = child.handle_request(order, DecodeLimits())
        assert (head["reason"], payload) == ("too_short", b"")
