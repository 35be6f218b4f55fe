"""Cut one excerpt in a process of its own: `python -m` with a file, its start and its length.

For the service, which imports no decoder. Writes the MP3 to standard output, or nothing if the file
cannot be decoded. The file is parsed by a decoder child within its limits, as in scans.
"""

import sys
from pathlib import Path

from pipelines.audio.decode.decoder_pool import DecoderPool


def main(path: str, start_s: str, duration_s: str) -> None:
    """Cut the excerpt; times in seconds of the sound."""
    with DecoderPool(1) as pool:
        encoded = pool.submit_cut(Path(path), float(start_s), float(duration_s)).result()
    sys.stdout.buffer.write(encoded or b"")


if __name__ == "__main__":
    main(*sys.argv[1:])
