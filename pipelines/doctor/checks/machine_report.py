"""Health check of this machine and its stores for the scheduled job.

Checks that need the API's settings are left to `sametrack doctor`.
"""

import time
from functools import partial

from pipelines.doctor.checks import machine
from pipelines.doctor.health_check import SystemHealthCheck
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.records.values import Document


def check_machine(settings: Settings) -> Document:
    """Check the machine, the stores and the workers; no surface is probed. Blocking.

    Raises:
        ProfileNotChosenError: No profile is chosen.
    """
    disk = partial(machine.check_disk, settings.data_home, min_free_mb=settings.min_free_disk_mb)
    begun_at = time.monotonic()
    examination = SystemHealthCheck(
        settings=settings,
        profile=choose_profile(settings),
        looks=[("python", machine.check_python), ("disk", disk)],
    )
    examination.run()
    examination.end()
    if examination.fault is not None:
        raise examination.fault
    return examination.to_document(time.monotonic() - begun_at)
