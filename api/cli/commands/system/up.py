"""`sametrack up`: run service, worker and Dagster.

All of them are ordinary programs, started as deploy/ starts them; they are children of this command
and stop with it, however it ends.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from api.cli.interrupts import Interrupted
from api.cli.options import SandboxDay, SandboxSeed, SandboxSize
from api.cli.processes.child_processes import (
    DAGSTER_PORT,
    LOOPBACK,
    ChildProcessGroup,
    Program,
    Supervisor,
    find_port,
    is_accepting,
    is_listening,
    local_address,
    sametrack_command,
    service_url,
)
from api.cli.terminal import EXIT_INPUT, exit_with_input_error, out, print_message, safe, show_error
from api.settings import ApiSettings
from pipelines.orchestration.instance import dagster_environment
from pipelines.platform.providers import choose_profile, has_chosen_world
from pipelines.settings import Settings
from pipelines.watchlists.webhook import webhook_address
from warehouse.home.folder import open_home

READY_WITHIN_S = 2.0
CODE = "pipelines.definitions"
LOCATION = "sametrack"

_Sandbox = Annotated[
    bool, typer.Option("--sandbox", help="Also start the sandbox, and use it as the platform.")
]
_DagsterPort = Annotated[
    int, typer.Option(min=0, max=65535, help="Port of the Dagster UI; 0 for a free one.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpConfig:
    """Ports, paths and options of all programs. Without `sandbox_port` there is no sandbox.

    `dagster` has the variables by which Dagster's programs find their instance. `run_dir` has the
    files that end with the command: the code server's socket, the workspace.
    """

    profile: str
    world: str
    api_host: str
    api_port: int
    dagster_port: int
    sandbox_port: int | None
    seed: int
    size: float
    calendar: str
    logs: Path
    dagster: Mapping[str, str]
    run_dir: Path
    has_token: bool
    console_url: str | None = None
    dagster_url: str | None = None


def up(
    *,
    sandbox: _Sandbox = False,
    dagster_port: _DagsterPort = DAGSTER_PORT,
    seed: SandboxSeed = 7,
    size: SandboxSize = 1.0,
    today: SandboxDay = None,
) -> None:
    """Start all services, print their addresses, and stop them on Ctrl-C."""
    with TemporaryDirectory(prefix="sametrack-") as run_dir:
        plan = _configure(
            Path(run_dir), sandbox=sandbox, dagster_port=dagster_port, seed=seed, size=size,
            today=today,
        )  # fmt: skip
        try:
            with ChildProcessGroup() as process_group:
                process_group.remove_on_kill(Path(run_dir))
                prepare_storage(process_group, logs=plan.logs, env=_environment(plan))
                print_message(f"starting; logs are in {safe(plan.logs)}")
                Supervisor(process_group, programs(plan), on_ready=lambda: _announce(plan)).run()
        except Interrupted as stop:
            print_message(f"stopped by {stop}; all processes have ended")


def programs(plan: UpConfig) -> list[Program]:
    """Return all programs of `sametrack up`."""
    socket, workspace = plan.run_dir / "code.sock", plan.run_dir / "workspace.yaml"
    workspace.write_text(
        f"load_from:\n  - grpc_server: {{socket: {socket}, location_name: {LOCATION}}}\n"
    )

    def program(
        name: str,
        command: list[str],
        *,
        is_ready: Callable[[], bool] | None = None,
        can_start: Callable[[], bool] | None = None,
    ) -> Program:
        log, env = plan.logs / f"{name}.log", _environment(plan)
        return Program(
            name=name, command=command, log=log, env=env, is_ready=is_ready, can_start=can_start
        )

    def has_code() -> bool:
        return is_accepting(socket)

    sandbox = []
    if plan.sandbox_port is not None:
        port = plan.sandbox_port
        world = ("--seed", str(plan.seed), "--size", f"{plan.size:g}")
        command = sametrack_command("sandbox", *world, "--port", str(port))
        sandbox = [program("sandbox", command, is_ready=lambda: is_listening(port))]
    return [
        *sandbox,
        program(
            "api", sametrack_command("serve"),
            is_ready=lambda: is_listening(plan.api_port, plan.api_host),
        ),
        program(
            "worker", sametrack_command("worker"),
            is_ready=lambda: _has_worker(plan.api_host, plan.api_port),
        ),
        program(
            "code-server",
            [
                *(sys.executable, "-m", "dagster", "api", "grpc", "--module-name", CODE),
                *("--socket", str(socket), "--location-name", LOCATION),
            ],
            is_ready=has_code,
        ),
        program(
            "daemon",
            [
                str(Path(sys.executable).with_name("dagster-daemon")),
                *("run", "-w", str(workspace), "--log-level", "warning"),
            ],
            can_start=has_code,
        ),
        program(
            "dagster",
            sametrack_command(
                "dagster-ui", "--port", str(plan.dagster_port), "--socket", str(socket)
            ),
            is_ready=lambda: is_listening(plan.dagster_port), can_start=has_code,
        ),
    ]  # fmt: skip


def _configure(
    run_dir: Path, *, sandbox: bool, dagster_port: int, seed: int, size: float, today: str | None
) -> UpConfig:
    settings = ApiSettings() if today is None else ApiSettings(sandbox_calendar=today)
    _check_webhook(settings)
    choice = _choose(settings, sandbox=sandbox)
    _check_ports(settings, dagster_port)
    profile = choose_profile(settings.model_copy(update={"profile": choice}))
    home = open_home(settings.data_home, profile.name)
    starts_sandbox = profile.name == "sandbox" and not is_listening(settings.sandbox_port)
    return UpConfig(
        profile=choice,
        world=profile.name,
        api_host=settings.api_host,
        api_port=settings.api_port,
        dagster_port=dagster_port or find_port(),
        sandbox_port=settings.sandbox_port if starts_sandbox else None,
        seed=seed,
        size=size,
        calendar=settings.sandbox_calendar,
        logs=home.root / "logs",
        dagster=dagster_environment(settings, home),
        run_dir=run_dir,
        has_token=settings.has_tokens,
        dagster_url=settings.dagster_url,
        console_url=settings.console_url or service_url(settings.api_host, settings.api_port),
    )


def _check_webhook(settings: Settings) -> None:
    """Refuse a wrong address at once, not in the outcome of each digest."""
    if settings.digest_webhook_url is not None:
        webhook_address(settings)


def _choose(settings: Settings, *, sandbox: bool) -> str:
    """Return the profile; empty if the chosen data provider has its own data."""
    without = settings.model_copy(update={"profile": None})
    if sandbox and has_chosen_world(without):
        exit_with_input_error(
            f"DATA_PROVIDER={settings.data_provider} does not use the sandbox",
            hint="omit --sandbox, or unset DATA_PROVIDER",
        )
    if sandbox:
        return "sandbox"
    return (settings.profile or "") if has_chosen_world(settings) else _suggest_sandbox()


def _suggest_sandbox() -> str:
    print_message("[yellow]no platform profile is chosen[/], so no host may be contacted.")
    print_message("  [bold]sametrack init[/] creates a .env file (profile, data home, token)")
    print_message("  [bold]sametrack up --sandbox[/] starts with the sandbox on this machine")
    if sys.stdin.isatty() and typer.confirm("Start with the sandbox now?", default=True):
        return "sandbox"
    show_error("profile_not_chosen", "choose a profile, then start again")
    raise typer.Exit(EXIT_INPUT)


def _check_ports(settings: ApiSettings, dagster_port: int) -> None:
    for host, port, setting in (
        (settings.api_host, settings.api_port, "API_PORT"),
        (LOOPBACK, dagster_port, "--dagster-port"),
    ):
        if port and is_listening(port, host):
            exit_with_input_error(
                f"port {port} is in use",
                hint=f"stop the program on it (another `sametrack up`?), or change {setting}",
            )


def prepare_storage(
    process_group: ChildProcessGroup, *, logs: Path, env: Mapping[str, str]
) -> None:
    """Create or update Dagster's storage once: several processes at a time would find it locked."""
    command = [sys.executable, "-m", "dagster", "instance", "migrate"]
    program = Program(name="prepare", command=command, log=logs / "prepare.log", env=env)
    child = process_group.start(program)
    code = child.process.wait()
    if code != 0:
        exit_with_input_error(
            f"the Dagster storage cannot be created (exit code {code})\n{child.log_tail()}"
        )
    process_group.stop(child)


def _has_worker(host: str, port: int) -> bool:
    """Return True if the service sees a live worker; else the first scan would start its own."""
    connection = HTTPConnection(local_address(host), port, timeout=READY_WITHIN_S)
    try:
        connection.request("GET", "/readyz")
        checks = json.load(connection.getresponse())["checks"]
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return any(one["name"] == "workers" and one["reason"] is None for one in checks)


def _environment(plan: UpConfig) -> dict[str, str]:
    env = {
        "PROFILE": plan.profile,
        **plan.dagster,
        "SANDBOX_CALENDAR": plan.calendar,
        "PYTHONUNBUFFERED": "1",
        "SAMETRACK_TRACE": "1",
        "DAGSTER_URL": plan.dagster_url or f"http://127.0.0.1:{plan.dagster_port}",
    }
    if plan.console_url is not None:
        env["CONSOLE_URL"] = plan.console_url
    return env


def _announce(plan: UpConfig) -> None:
    out.print(f"[bold green]ready[/] (profile {safe(plan.world)})")
    url = service_url(plan.api_host, plan.api_port)
    out.print(f"  console     {safe(url)}/console")
    out.print(f"  service     {safe(url)}  (reference: /docs)")
    out.print(f"  Dagster UI  http://127.0.0.1:{plan.dagster_port}")
    if plan.sandbox_port is not None:
        out.print(f"  sandbox     http://127.0.0.1:{plan.sandbox_port}/_world/tracks")
    if plan.has_token:
        out.print("  [dim]service and Dagster UI require a token; sign in at /login[/]")
    out.print("[dim]Ctrl-C stops all services[/]")
