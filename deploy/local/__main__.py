"""`python -m deploy.local`: start a cluster on this machine; Ctrl-C stops it."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from api.cli.interrupts import Interrupted
from api.cli.processes.child_processes import ChildProcessGroup, Supervisor
from api.cli.terminal import out, print_message, safe, show_error
from deploy.local.cluster import Cluster, ClusterPlan
from warehouse.records.errors import SametrackError


def main(
    *,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Celery workers.")] = 3,
    apis: Annotated[int, typer.Option(min=1, max=16, help="Services.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of the sandbox.")] = 7,
    size: Annotated[float, typer.Option(min=0.1, max=40, help="Size of the sandbox.")] = 0.3,
    latency_ms: Annotated[int, typer.Option(min=0, help="Delay of each of its answers.")] = 0,
) -> None:
    """Start PostgreSQL, Redis, S3, services, Dagster and Celery workers; nothing outlives them."""
    with TemporaryDirectory(prefix="sametrack-cluster-") as folder:
        Path(folder).chmod(0o711)  # PostgreSQL may run as another user
        plan = ClusterPlan(
            folder=Path(folder), celery_workers=workers, apis=apis,
            seed=seed, size=size, latency_ms=latency_ms,
        )  # fmt: skip
        try:
            with ChildProcessGroup() as process_group:
                process_group.remove_on_kill(Path(folder))
                run(Cluster(plan), process_group)
        except Interrupted as stop:
            print_message(f"stopped by {stop}; all processes have ended, all data is gone")
        except SametrackError as error:
            show_error(error.type, str(error), hint=error.hint)
            raise typer.Exit(1) from error


def run(cluster: Cluster, process_group: ChildProcessGroup) -> None:
    """Start a cluster and supervise it until a stop signal."""
    print_message(f"starting; logs are in {safe(cluster.plan.logs)}")
    cluster.start_stores(process_group)
    Supervisor(process_group, cluster.programs(), on_ready=lambda: announce(cluster)).run()


def announce(cluster: Cluster) -> None:
    """Print the addresses."""
    plan = cluster.plan
    out.print("[bold green]ready[/] (profile sandbox)")
    out.print(f"  service     http://127.0.0.1:{plan.api_port}")
    out.print(f"  Dagster UI  http://127.0.0.1:{plan.dagster_port}")
    out.print(f"  sandbox     http://127.0.0.1:{plan.sandbox_port}/_world/tracks")
    out.print(f"  {plan.celery_workers} Celery workers, {plan.apis} services")
    out.print("[dim]Ctrl-C stops everything; the data of this cluster goes with it[/]")


if __name__ == "__main__":
    typer.run(main)
