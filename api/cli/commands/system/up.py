"""`sametrack up`: run service, worker and Dagster.

All of them are ordinary programs, started as deploy/ starts them; they are children of this command
and stop with it, however it ends.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from api.cli.interrupts import Interrupted
from api.cli.options import SandboxDay, SandboxSeed, SandboxSize
from api.cli.processes import child_processes
from api.cli.terminal import EXIT_INPUT, exit_with_input_error, out, print_message, safe, show_error
from api.settings import ApiSettings
from pipelines.orchestration.instance import dagster_environment
from pipelines.platform.providers import choose_profile, has_chosen_world
from pipelines.settings import Settings
from pipelines.watchlists.digest import webhook_address
from warehouse.home import open_home

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
    dagster_port: _DagsterPort = child_processes.DAGSTER_PORT,
    seed: SandboxSeed = 7,
    size: SandboxSize = 1.0,
    today: SandboxDay = None,
) -> None:
    """Start all services, print their addresses, and stop them on Ctrl-C."""
    with TemporaryDirectory(prefix="sametrack-") as run_dir:
        config = _configure(
            Path(run_dir),
            sandbox=sandbox,
            dagster_port=dagster_port,
            seed=seed,
            size=size,
            today=today,
        )

        def announce() -> None:
            url = child_processes.service_url(config.api_host, config.api_port)
            out.print(f"[bold green]ready[/] (profile {safe(config.world)})")
            out.print(f"  console     {safe(url)}/console")
            out.print(f"  service     {safe(url)}  (reference: /docs)")
            out.print(f"  Dagster UI  http://127.0.0.1:{config.dagster_port}")
            if config.sandbox_port is not None:
                out.print(f"  sandbox     http://127.0.0.1:{config.sandbox_port}/_world/tracks")
            if config.has_token:
                out.print("  [dim]service and Dagster UI require a token; sign in at /login[/]")
            out.print("[dim]Ctrl-C stops all services[/]")

        try:
            with child_processes.ChildProcessGroup() as process_group:
                process_group.remove_on_kill(Path(run_dir))
                # Before the programs: several that create the storage at a time find it locked.
                prepare_storage(process_group, logs=config.logs, env=_environment(config))
                print_message(f"starting; logs are in {safe(config.logs)}")
                child_processes.Supervisor(process_group, programs(config), on_ready=announce).run()
        except Interrupted as stop:
            print_message(f"stopped by {stop}; all processes have ended")


def programs(config: UpConfig) -> list[child_processes.Program]:
    """Return all programs of `sametrack up`, in the order of their start."""
    # Daemon and UI reach the code server over a socket file, which needs no port.
    socket, workspace = config.run_dir / "code.sock", config.run_dir / "workspace.yaml"
    workspace.write_text(
        f"load_from:\n  - grpc_server: {{socket: {socket}, location_name: {LOCATION}}}\n"
    )
    # They read the assets from it, so they start when it accepts.
    has_code = partial(child_processes.is_accepting, socket)
    program, logs = partial(child_processes.Program, env=_environment(config)), config.logs
    sandbox = []
    if config.sandbox_port is not None:
        command = child_processes.sametrack_command(
            *("sandbox", "--seed", str(config.seed), "--size", f"{config.size:g}"),
            *("--port", str(config.sandbox_port)),
        )
        is_ready = partial(child_processes.is_listening, config.sandbox_port)
        sandbox = [
            program(name="sandbox", command=command, log=logs / "sandbox.log", is_ready=is_ready)
        ]
    return [
        *sandbox,
        program(
            name="api",
            command=child_processes.sametrack_command("serve"),
            log=logs / "api.log",
            is_ready=lambda: child_processes.is_listening(config.api_port, config.api_host),
        ),
        program(
            name="worker",
            command=child_processes.sametrack_command("worker"),
            log=logs / "worker.log",
            is_ready=lambda: _has_worker(config.api_host, config.api_port),
        ),
        program(
            name="code-server",
            command=[
                *(sys.executable, "-m", "dagster", "api", "grpc", "--module-name", CODE),
                *("--socket", str(socket), "--location-name", LOCATION),
            ],
            log=logs / "code-server.log",
            is_ready=has_code,
        ),
        program(
            name="daemon",
            command=[
                str(Path(sys.executable).with_name("dagster-daemon")),
                *("run", "-w", str(workspace), "--log-level", "warning"),
            ],
            log=logs / "daemon.log",
            can_start=has_code,
        ),
        program(
            name="dagster",
            command=child_processes.sametrack_command(
                "dagster-ui", "--port", str(config.dagster_port), "--socket", str(socket)
            ),
            log=logs / "dagster.log",
            is_ready=partial(child_processes.is_listening, config.dagster_port),
            can_start=has_code,
        ),
    ]


def _configure(
    run_dir: Path, *, sandbox: bool, dagster_port: int, seed: int, size: float, today: str | None
) -> UpConfig:
    """Check settings and ports, and choose the world.

    Raises:
        typer.Exit: No profile is chosen, or a port is in use (2).
    """
    settings = ApiSettings() if today is None else ApiSettings(sandbox_calendar=today)
    # A wrong address is refused at once, not in the outcome of each digest.
    if settings.digest_webhook_url is not None:
        webhook_address(settings)
    choice = choose_world(settings, sandbox=sandbox)
    for host, port, setting in (
        (settings.api_host, settings.api_port, "API_PORT"),
        (child_processes.LOOPBACK, dagster_port, "--dagster-port"),
    ):
        if port and child_processes.is_listening(port, host):
            exit_with_input_error(
                f"port {port} is in use",
                hint=f"stop the program on it (another `sametrack up`?), or change {setting}",
            )
    profile = choose_profile(settings.model_copy(update={"profile": choice}))
    home = open_home(settings.data_home, profile.name)
    # A sandbox that runs already is used.
    starts_sandbox = profile.name == "sandbox" and not child_processes.is_listening(
        settings.sandbox_port
    )
    return UpConfig(
        profile=choice,
        world=profile.name,
        api_host=settings.api_host,
        api_port=settings.api_port,
        dagster_port=dagster_port or child_processes.find_port(),
        sandbox_port=settings.sandbox_port if starts_sandbox else None,
        seed=seed,
        size=size,
        calendar=settings.sandbox_calendar,
        logs=home.root / "logs",
        dagster=dagster_environment(settings, home),
        run_dir=run_dir,
        has_token=settings.has_tokens,
        dagster_url=settings.dagster_url,
        console_url=settings.console_url
        or child_processes.service_url(settings.api_host, settings.api_port),
    )


def choose_world(settings: Settings, *, sandbox: bool) -> str:
    """Return the profile; empty if the chosen data provider has its own data.

    Raises:
        typer.Exit: No profile is chosen, or the provider does not use the sandbox (2).
    """
    without_profile = settings.model_copy(update={"profile": None})
    if sandbox and has_chosen_world(without_profile):
        exit_with_input_error(
            f"DATA_PROVIDER={settings.data_provider} does not use the sandbox",
            hint="omit --sandbox, or unset DATA_PROVIDER",
        )
    if sandbox:
        return "sandbox"
    if has_chosen_world(settings):
        return settings.profile or ""
    print_message("[yellow]no platform profile is chosen[/], so no host may be contacted.")
    print_message("  [bold]sametrack init[/] creates a .env file (profile, data home, token)")
    print_message("  [bold]sametrack up --sandbox[/] starts with the sandbox on this machine")
    if sys.stdin.isatty() and typer.confirm("Start with the sandbox now?", default=True):
        return "sandbox"
    show_error("profile_not_chosen", "choose a profile, then start again")
    raise typer.Exit(EXIT_INPUT)


def prepare_storage(
    process_group: child_processes.ChildProcessGroup, *, logs: Path, env: Mapping[str, str]
) -> None:
    """Create or update Dagster's storage once: several processes at a time would find it locked."""
    command = [sys.executable, "-m", "dagster", "instance", "migrate"]
    program = child_processes.Program(
        name="prepare", command=command, log=logs / "prepare.log", env=env
    )
    child = process_group.start(program)
    # It ends by itself; its log says why it failed.
    code = child.process.wait()
    if code != 0:
        exit_with_input_error(
            f"the Dagster storage cannot be created (exit code {code})\n{child.log_tail()}"
        )
    process_group.stop(child)


def _has_worker(host: str, port: int) -> bool:
    """Return True if the service sees a live worker; else the first scan would start its own."""
    connection = HTTPConnection(child_processes.local_address(host), port, timeout=READY_WITHIN_S)
    try:
        connection.request("GET", "/readyz")
        checks = json.load(connection.getresponse())["checks"]
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return any(check["name"] == "workers" and check["reason"] is None for check in checks)


def _environment(config: UpConfig) -> dict[str, str]:
    # Logs of children go to files, so they must not be buffered, and errors have their trace.
    env = {
        "PROFILE": config.profile,
        **config.dagster,
        "SANDBOX_CALENDAR": config.calendar,
        "PYTHONUNBUFFERED": "1",
        "SAMETRACK_TRACE": "1",
        "DAGSTER_URL": config.dagster_url or f"http://127.0.0.1:{config.dagster_port}",
    }
    if config.console_url is not None:
        env["CONSOLE_URL"] = config.console_url
    return env
