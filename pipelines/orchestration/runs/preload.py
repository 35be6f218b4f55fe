"""Everything that scan processes and look-ups load, loaded once before they are forked."""

from pipelines.audio.index import reference_index
from pipelines.audio.matching import verify
from pipelines.catalog import sound_matches  # noqa: F401 -- what look-ups need
from pipelines.orchestration import storage  # noqa: F401 -- what Dagster's instance loads
from pipelines.orchestration.runs import scan_runs

verify.warm_up()
reference_index.warm_up()
scan_runs.scan_jobs()
