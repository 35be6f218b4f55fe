"""Python imports this when it starts with this folder in its path: a child to be watched."""

import os
from pathlib import Path

if "MEASURED_INTO" in os.environ:
    from tests.branch_coverage import watch

    watch(Path(os.environ["MEASURED_INTO"]))
