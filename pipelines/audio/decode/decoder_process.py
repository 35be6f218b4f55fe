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
from typing import BinaryIO

import av
import numpy as np

from pipelines.audio.decode import decoding
from pipelines.audio.decode.protocol import FRAME, DecodeLimits, DecoderReply, DecoderRequest
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sounds import pack_features

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38


def main() -> None:
    """Serve until the parent closes the pipe or dies."""
    parent_pid, limits = int(sys.argv[1]), DecodeLimits(**json.loads(sys.argv[2]))
    exit_with_parent(parent_pid)
    # Reserved before a library decodes, which may print.
    pipe = reserve_stdout()
    # Libraries load what they need before the limits apply and before the first file has to wait.
    warm_up()
    limit_resources(limits.memory_mb)
    _send(pipe, DecoderReply(), b"")  # the parent waits until this child is ready
    for line in sys.stdin.buffer:
        _send(pipe, *handle_request(json.loads(line), limits))


def exit_with_parent(parent_pid: int) -> None:
    """Make the kernel kill this process when its parent dies; exit if it is already gone."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # The parent may have died before the kernel was asked.
    if os.getppid() != parent_pid:
        sys.exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle


def reserve_stdout() -> BinaryIO:
    """Return the reply pipe, and send stdout and stderr to /dev/null from now on.

    Libraries print to stdout; one stray line would corrupt the protocol.
    """
    pipe = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    return pipe


def warm_up() -> None:
    """Run the libraries once."""
    av.logging.set_level(None)
    second = np.sin(np.arange(44_100, dtype=np.float32))
    measure_features(second, 44_100)


def limit_resources(memory_mb: int) -> None:
    """Limit the address space of this process; let it write no file and no core."""
    limits = {
        resource.RLIMIT_AS: memory_mb << 20,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,  # pipes are exempt
    }
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))


def handle_request(request: DecoderRequest, limits: DecodeLimits) -> tuple[DecoderReply, bytes]:
    """Measure or cut a file; return the reply and packed features, or an encoded excerpt.

    A failure is a reply with its reason, and with the hash of the file if it was read.
    """
    path, reply = Path(request["path"]), DecoderReply()
    started = time.process_time()
    try:
        if request["task"] == "cut":
            assert request["stretch"] is not None, "an excerpt has a start and a duration"
            start_s, duration_s = request["stretch"]
            return reply, decoding.cut_sound(
                path, start_s=start_s, duration_s=duration_s, limits=limits
            )
        reply["sha256"] = None
        decoding.check_file(path, limits)
        with path.open("rb") as file:
            reply["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
        decoded = decoding.decode_sound(path, limits)
        packed = pack_features(measure_features(decoded.samples, decoded.rate))
        reply["duration_s"] = len(decoded.samples) / decoded.rate
        reply["sample_rate_hz"] = decoded.rate
        reply["codec"] = decoded.codec
        reply["cpu_ms"] = 1000 * (time.process_time() - started)
    except decoding.DecodeRefusedError as exc:
        reply["reason"] = exc.reason
    except MemoryError:
        reply["reason"] = "out_of_memory"
    except OSError:
        reply["reason"] = "file_unreadable"
    else:
        return reply, packed
    return reply, b""


def _send(pipe: BinaryIO, reply: DecoderReply, payload: bytes) -> None:
    head = json.dumps(reply).encode()
    pipe.write(FRAME.pack(len(head), len(payload)) + head + payload)
    pipe.flush()


if __name__ == "__main__":
    main()
