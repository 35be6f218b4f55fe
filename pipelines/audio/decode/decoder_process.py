"""The decoder child process: reads file paths from stdin and replies with features.

`decoder_pool.py` starts it as `python -m pipelines.audio.decode.decoder_process`. Because it
parses untrusted files, it limits its own memory, cannot write files, and dies with its parent.
Replies are length-prefixed messages on stdout.
"""

import ctypes
import hashlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import BinaryIO, TypedDict

import av
import numpy as np

from pipelines.audio.decode.decoding import DecodeRefusedError, check_file, decode_sound
from pipelines.audio.decode.excerpts import cut_sound
from pipelines.audio.decode.limits import DecodeLimits
from pipelines.audio.decode.replies import FRAME, DecoderReply, Task
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sounds import pack_features

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38


class DecoderRequest(TypedDict):
    """One request: what to do with a file. `stretch` is the start and duration to cut."""

    path: str
    task: Task
    stretch: list[float] | None


def main() -> None:
    """Serve until the parent closes the pipe or dies."""
    parent_pid, limits_json = int(sys.argv[1]), sys.argv[2]
    _exit_with_parent(parent_pid)
    # Before a library decodes, which may print.
    answers = _private_stdout()
    limits = DecodeLimits(**json.loads(limits_json))
    _warm_up()
    _limit_resources(limits.memory_mb)
    _send(answers, DecoderReply(), b"")  # tells the parent that this child is ready
    for line in sys.stdin.buffer:
        _send(answers, *_handle(json.loads(line), limits))


def _exit_with_parent(parent_pid: int) -> None:
    """Make the kernel kill this process when its parent dies; exit if it is already gone."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != parent_pid:
        sys.exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle


def _private_stdout() -> BinaryIO:
    """Reserve the reply pipe and send stdout and stderr to /dev/null.

    Libraries print to stdout; one stray line would corrupt the protocol.
    """
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def _warm_up() -> None:
    """Run the libraries before the limits apply and before the first file has to wait."""
    av.logging.set_level(None)
    second = np.sin(np.arange(44_100, dtype=np.float32))
    measure_features(second, 44_100)


def _limit_resources(memory_mb: int) -> None:
    limits = {
        resource.RLIMIT_AS: memory_mb << 20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,  # pipes are exempt
    }
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))


def _handle(order: DecoderRequest, limits: DecodeLimits) -> tuple[DecoderReply, bytes]:
    """Do what is asked; a failure is a reply with its reason, and with the hash if it is known."""
    path, reply = Path(order["path"]), DecoderReply()
    try:
        if order["task"] == "measure":
            return reply, _measure(path, limits, reply)
        assert order["stretch"] is not None, "an excerpt has a start and a duration"
        return reply, _cut(path, order["stretch"], limits)
    except DecodeRefusedError as exc:
        reply["reason"] = exc.reason
    except MemoryError:
        reply["reason"] = "out_of_memory"
    except OSError:
        reply["reason"] = "file_unreadable"
    return reply, b""


def _measure(path: Path, limits: DecodeLimits, reply: DecoderReply) -> bytes:
    started = time.process_time()
    reply["sha256"] = None
    check_file(path, limits)
    with path.open("rb") as file:
        reply["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    decoded = decode_sound(path, limits)
    packed = pack_features(measure_features(decoded.samples, decoded.rate))
    reply["duration_s"] = len(decoded.samples) / decoded.rate
    reply["sample_rate_hz"] = decoded.rate
    reply["codec"] = decoded.codec
    reply["cpu_ms"] = 1000 * (time.process_time() - started)
    return packed


def _cut(path: Path, stretch: list[float], limits: DecodeLimits) -> bytes:
    start_s, duration_s = stretch
    try:
        return cut_sound(path, start_s=start_s, duration_s=duration_s, limits=limits)
    except ValueError as exc:  # the encoder's
        raise DecodeRefusedError("file_unreadable") from exc


def _send(answers: BinaryIO, answer: DecoderReply, packed: bytes) -> None:
    head = json.dumps(answer).encode()
    answers.write(FRAME.pack(len(head), len(packed)) + head + packed)
    answers.flush()


if __name__ == "__main__":
    main()
