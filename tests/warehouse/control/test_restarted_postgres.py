"""A control store in PostgreSQL while its server restarts."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import stamina
from structlog.testing import capture_logs

from api.cli.processes.child_processes import ChildProcessGroup
from deploy.local.stores import PostgresServer
from pipelines.orchestration.failures import is_outage
from tests.deployment import wait_for
from warehouse.control import jobs, open_control
from warehouse.control.database import TRY_AGAIN_S
from warehouse.records.errors import WarehouseUnavailableError

pytestmark = pytest.mark.full


class Server:
    """A PostgreSQL server that can be stopped and started."""

    def __init__(self, folder: Path, process_group: ChildProcessGroup) -> None:
        self._server = PostgresServer(folder)
        self._process_group = process_group
        self.start()
        self.url = self._server.url("control", driver="postgresql+psycopg")

    def start(self) -> None:
        self._child = self._process_group.start(self._server.program())
        self._server.create_databases(self._child)

    def stop(self) -> None:
        self._process_group.stop(self._child)


@pytest.fixture
def server() -> Iterator[Server]:
    with TemporaryDirectory() as folder, ChildProcessGroup() as process_group:
        Path(folder).chmod(0o711)  # PostgreSQL runs as another user where we are root
        yield Server(Path(folder) / "postgres", process_group)


def test_while_a_server_restarts_the_service_says_so_at_once_and_a_scan_waits(
    server: Server,
) -> None:
    with (
        closing(open_control(server.url, world="sandbox")) as of_service,
        closing(open_control(server.url, world="sandbox", wait_s=300)) as of_scan,
    ):
        assert jobs.newest(of_scan, limit=1) == []
        server.stop()
        with capture_logs(), pytest.raises(WarehouseUnavailableError) as caught:
            jobs.newest(of_service, limit=1)
        assert caught.value.retry_after == TRY_AGAIN_S
        assert is_outage(caught.value)
        waits = threading.Event()
        stamina.instrumentation.set_on_retry_hooks([lambda _details: waits.set()])
        try:
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(jobs.newest, of_scan, limit=1)
                wait_for(waits.is_set)
                server.start()
                assert asked.result() == []
        finally:
            stamina.instrumentation.set_on_retry_hooks(None)
        assert jobs.newest(of_service, limit=1) == []


def test_a_damaged_file_is_no_outage(tmp_path: Path) -> None:
    file = tmp_path / "control.sqlite"
    file.write_bytes(b"no database" * 100)
    with pytest.raises(WarehouseUnavailableError) as caught:
        open_control(f"sqlite:///{file}", world="sandbox")
    assert caught.value.retry_after is None
