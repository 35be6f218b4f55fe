"""`python -m benchmarks.fuzz.guided [PARSER ...] [--seconds 60]`: coverage-guided fuzzing of
parsers.

Needs atheris, no dependency of the project: `pip install atheris`. Each parser (those of
`PARSERS` in `tests/platform/shape_answers.py`; all of them without a name) runs in a process of its
own and begins with the bodies of its shapes. A named error is an answer; anything else is a crash,
which ends the process and is kept in a file. Status 1: a parser crashed.
"""

import argparse
import importlib
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

LONGEST_BODY = 100_000
ASKED = "7348759830572834348"
RSS_LIMIT_MB = 2_048
UNIT_LIMIT_S = 25
"""A body that takes longer is a crash, too."""


def main() -> int:
    options = _options()
    if options.corpus is not None:
        return fuzz(options.parsers[0], options.corpus, options.found, options.seconds)
    from tests.platform.shape_answers import PARSERS  # noqa: PLC0415 -- in a child it is imported instrumented

    crashed = []
    options.found.mkdir(parents=True, exist_ok=True)
    for name in options.parsers or PARSERS:
        with TemporaryDirectory() as corpus:
            write_seeds(name, Path(corpus))
            ended = subprocess.run(
                [sys.executable, "-m", "benchmarks.fuzz.guided", name, "--corpus", corpus,
                 "--found", str(options.found), "--seconds", str(options.seconds)],
                capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
        print(f"{name:20} {'CRASHED' if ended.returncode else 'held':8} {_last(ended.stderr)}")
        if ended.returncode:
            crashed.append(name)
            print("\n".join(ended.stderr.splitlines()[-30:]))
    return 1 if crashed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parsers", nargs="*")
    parser.add_argument("--seconds", type=int, default=60, help="of each parser")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz"), help="folder of crashes")
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def write_seeds(name: str, folder: Path) -> None:
    """Write the body of each shape that a parser reads."""
    from benchmarks.fuzz.mutating import sources_of  # noqa: PLC0415 -- as above

    for number, (shape, _) in enumerate(sources_of(name)):
        (folder / f"{number}").write_bytes(shape.body)


def fuzz(name: str, corpus: Path, found: Path, seconds: int) -> int:
    """Fuzz one parser; libFuzzer ends the process."""
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris")
    with atheris.instrument_imports(include=["pipelines", "tests.platform.shape_answers"]):
        answers: Any = importlib.import_module("tests.platform.shape_answers")
        bombs: Any = importlib.import_module("benchmarks.fuzz.bombs")
    errors: Any = importlib.import_module("warehouse.records.errors")
    parse = answers.PARSERS[name]

    def read(body: bytes) -> None:
        try:
            parse(body, ASKED, bombs.SEEN)
        except errors.SametrackError:
            return

    limits = (f"-max_total_time={seconds}", f"-timeout={UNIT_LIMIT_S}",
              f"-max_len={LONGEST_BODY}", f"-rss_limit_mb={RSS_LIMIT_MB}")  # fmt: skip
    atheris.Setup([sys.argv[0], str(corpus), f"-artifact_prefix={found}/{name}-", *limits], read)
    atheris.Fuzz()
    return 0


def _last(text: str) -> str:
    """What libFuzzer says last of its runs and of the code that they reached."""
    lines = [line for line in text.splitlines() if line.startswith("#") and "cov:" in line]
    return lines[-1].strip() if lines else ""


if __name__ == "__main__":
    sys.exit(main())
