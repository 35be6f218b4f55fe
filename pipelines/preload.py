"""Loaded once by the fork server of a worker, and shared by the processes that it forks.

They execute the runs of scans (`orchestration/runs/local.py`) and compare sounds of catalogues.
"""

import httpx2
import pyarrow as pa

from pipelines import definitions
from pipelines.audio.matching import verify
from pipelines.catalog import sound_matches  # noqa: F401 -- what catalogues compare with
from warehouse.records.jobs import JOB_KINDS

verify.warm_up()
httpx2.Client(verify=False).close()  # the first client loads the libraries below it
pa.Table.from_pylist([{"row": 0}])  # loads pandas, where it is installed
for kind in JOB_KINDS:
    definitions.defs.resolve_job_def(kind)
