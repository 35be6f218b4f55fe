"""Dagster's web application in process, and what it answers under."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dagster import DagsterInstance
from dagster._core.workspace.load_target import EmptyWorkspaceTarget
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

from pipelines.orchestration.dagster_compat import WorkspaceProcessContext


@contextmanager
def open_dagster_app(folder: Path) -> Iterator[tuple[Starlette, DagsterInstance]]:
    """The application without definitions, and its instance."""
    with (
        DagsterInstance.local_temp(str(folder)) as instance,
        WorkspaceProcessContext(instance, EmptyWorkspaceTarget()) as workspace,
    ):
        yield create_app_from_workspace_process_context(workspace), instance


def routes_of(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Method and path of every route; a parameter is filled in."""
    for route in routes:
        if isinstance(route, Mount):
            yield "GET", f"{route.path}/some.file"
        elif isinstance(route, Route):
            for method in sorted(route.methods or {"GET"}):
                yield method, route.path.partition("{")[0] + ("x" if "{" in route.path else "")
