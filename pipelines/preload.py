"""Loaded once by the fork server of a worker, and shared by the processes that it forks.

They execute the runs of scans (`orchestration/runs/local.py`), decode sounds and compare those of
catalogues.
"""

from pipelines import definitions
from pipelines.audio.index import reference_index
from pipelines.audio.matching import verify
from pipelines.catalog import sound_matches  # noqa: F401 -- what catalogues compare with
from warehouse.records.jobs import JOB_KINDS

verify.warm_up()
reference_index.warm_up()
for kind in JOB_KINDS:
    definitions.defs.resolve_job_def(kind)
