"""Ask for the same jobs as everybody else, then claim until nothing is queued.

Prints `created <job>` and `claimed <job>` for what this process did.
Usage: claim_jobs.py URL WORKER FINGERPRINTS
"""

import sys

from warehouse.control import jobs, open_control
from warehouse.control.jobs import NewJob

url, worker, fingerprints = sys.argv[1], sys.argv[2], int(sys.argv[3])
control = open_control(url, world="sandbox")
for number in range(fingerprints):
    job, created = jobs.create_or_join(
        control,
        NewJob(
            kind="scan",
            input=str(number),
            target=str(number),
            music_id=None,
            parameters={},
            fingerprint=f"fingerprint-{number}",
            scan_key=None,
            origin="api",
            priority=100,
        ),
    )
    assert job.input == str(number)
    if created:
        print("created", job.job_id)
while claimed := jobs.claim(control, worker):
    assert claimed.worker_id == worker
    print("claimed", claimed.job_id)
