"""Take the same due times as everybody else; print the runs that are ours, each ended at once."""

import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta

from warehouse.control import open_control, watchlists
from warehouse.records.watchlists import DueRun

url, name, times = sys.argv[1:]
first = datetime(2100, 1, 1, tzinfo=UTC)
with closing(open_control(url, world="sandbox")) as control:
    for minute in range(int(times)):
        run_id = watchlists.take_due(
            control, name, DueRun(due_at=first + timedelta(minutes=minute))
        )
        if run_id is not None:
            print(run_id)
