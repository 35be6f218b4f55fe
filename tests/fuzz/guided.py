"""`python -m tests.fuzz.guided PARSER -max_total_time=60`: coverage-guided fuzzing of one parser.

Needs atheris, no dependency of the project: `pip install atheris`. The parsers are those of
`tests.answers.PARSERS`; options of libFuzzer follow the name. A named error is an answer; anything
else is a crash, written to a file. Without a name the parsers are listed.
"""

import importlib
import sys
from typing import Any

from tests.answers import PARSERS
from tests.fuzz.bombs import SEEN
from warehouse.records.errors import SametrackError

ASKED = "7348759830572834348"


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in PARSERS:
        sys.exit("\n".join(["parsers:", *PARSERS]))
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris")
    parse = PARSERS[sys.argv.pop(1)]

    def one(body: bytes) -> None:
        try:
            parse(body, ASKED, SEEN)
        except SametrackError:
            return

    atheris.instrument_func(parse)
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
