"""What the files in `deploy/` name is there: commands, settings, ports, paths, users.

Neither a container engine nor a cluster is needed: a change of the project breaks these parts.
"""

import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.cli.command_table import BY_NAME
from api.settings import ApiSettings
from pipelines.orchestration.definitions import LOCATION

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose" / "compose.yaml"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = ("network", "prepare", "sametrack", "settings")
STORES = ("postgres", "redis", "objects")
OF_OTHERS = {
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL",
    "AWS_ALLOW_HTTP",
    "DAGSTER_HOME", "DAGSTER_PG_PASSWORD", "HOME", "NUMBA_CACHE_DIR", "PATH",
    "POSTGRES_PASSWORD", "REDIS_PASSWORD", "CELERY_WORKERS", "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED", "postgresql-password",
}  # fmt: skip
"""Variables that Sametrack's settings do not know: of its libraries, and of compose.yaml itself."""


def is_known(name: str) -> bool:
    return name in OF_OTHERS or name.lower() in ApiSettings.model_fields


def compose() -> Any:
    return yaml.safe_load(COMPOSE.read_text())


def manifests() -> Iterator[tuple[str, Any]]:
    for name in MANIFESTS:
        for document in yaml.safe_load_all((DEPLOY / "kubernetes" / f"{name}.yaml").read_text()):
            yield f"{document['kind']} {document['metadata']['name']}", document


def pods() -> dict[str, Any]:
    return {
        name: one["spec"]["template"]["spec"]
        for name, one in manifests()
        if one["kind"] in {"Deployment", "Job"}
    }


def unit(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text().splitlines()
    return [(key, value) for key, eq, value in (line.partition("=") for line in lines) if eq]


def own_services() -> dict[str, Any]:
    return {name: one for name, one in compose()["services"].items() if name not in STORES}


def environment_names(text: str) -> set[str]:
    return set(re.findall(r"^#?\s?([A-Z][A-Z0-9_]+)=", text, re.MULTILINE))


def commands() -> dict[str, list[str]]:
    """Each command line that the files start, by where it is."""
    found: dict[str, list[str]] = {}
    for name, one in own_services().items():
        entry = one.get("entrypoint", ["sametrack"])
        if entry[0] != "sh":
            found[f"compose {name}"] = [*map(str, entry), *map(str, one["command"])]
    for name, pod in pods().items():
        (container,) = pod["containers"]
        command = container.get("command", ["sametrack"])
        found[name] = [*map(str, command), *map(str, container["args"])]
    for path in UNITS:
        for key, value in unit(path):
            if key in {"ExecStart", "ExecStartPre"} and "/opt/sametrack" in value:
                program, *arguments = value.split()
                found[f"{path.name} {key}"] = [Path(program).name, *arguments]
    return found


COMMANDS = commands()
OURS = {name: line for name, line in COMMANDS.items() if line[0] == "sametrack"}


@pytest.mark.parametrize("name", sorted(OURS))
def test_the_command_line_parses_with_the_real_commands(name: str) -> None:
    _, verb, *arguments = OURS[name]
    with BY_NAME[verb].loaded.make_context(verb, list(arguments)) as context:
        assert context.args == []


FOREIGN = sorted({" ".join(line) for line in COMMANDS.values() if line[0] != "sametrack"})


def test_the_other_commands_are_those_of_dagster_and_celery() -> None:
    verbs = {tuple(line.split()[:2]) for line in FOREIGN}
    assert verbs == {
        ("dagster", "api"), ("dagster", "instance"), ("dagster-daemon", "run"), ("celery", "-A"),
    }  # fmt: skip


@pytest.mark.parametrize("line", FOREIGN)
def test_the_options_of_the_other_commands_exist(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *arguments = line.split()
    words = [word for word in arguments if word.startswith("-") and word not in {"-m", "-A"}]
    verbs = {"dagster": arguments[:2], "celery": ["worker"], "dagster-daemon": ["run"]}[program]
    (command,) = entry_points(group="console_scripts", name=program)
    monkeypatch.setattr(sys, "argv", [program, *verbs, "--help"])
    with warnings.catch_warnings(action="ignore"), pytest.raises(SystemExit) as ended:
        command.load()()
    assert not ended.value.code
    said = capsys.readouterr().out
    missing = [word for word in words if not re.search(rf"(?<!\S){word}\b", said)]
    assert missing == []
    for module in re.findall(r"\bpipelines[\w.]+", line):
        assert importlib.util.find_spec(module) is not None


def test_each_setting_that_a_file_names_exists() -> None:
    named: dict[str, set[str]] = {}
    for name, one in own_services().items():
        named[f"compose {name}"] = set(one["environment"])
    for path in (DEPLOY / "compose/env.example", DEPLOY / "systemd/settings.env.example"):
        named[path.name] = environment_names(path.read_text())
    for name, one in manifests():
        if one["kind"] == "ConfigMap":
            named[name] = set(one["data"])
    image = (DEPLOY / "image/Containerfile").read_text()
    named["image"] = set(re.findall(r"\b([A-Z][A-Z_]+)=", image)) - {
        "BASE", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_CACHE_DIR", "PYTHONPATH",
    }  # fmt: skip
    for path in UNITS:
        values = [value for key, value in unit(path) if key == "Environment"]
        named[path.name] = set(re.findall(r"\b([A-Z][A-Z_]+)=", " ".join(values)))
    assert all(named.values())
    unknown = {
        place: [name for name in sorted(names) if not is_known(name)]
        for place, names in named.items()
    }
    assert {place: names for place, names in unknown.items() if names} == {}


def test_no_file_has_a_secret() -> None:
    secrets = re.compile(
        r"^[\s-]*(\w*(?:PASSWORD|TOKEN|ACCESS_KEY|ACCESS_KEY_ID))\"?[ \t]*[:=][ \t]*(\S.*)",
        re.MULTILINE,
    )
    wrong = []
    for path in sorted(DEPLOY.rglob("*")):
        if path.suffix in {".py", ".pyc"} or path.is_dir() or "local" in path.parts:
            continue
        for key, value in secrets.findall(path.read_text()):
            if not value.startswith(("${", '"$', "{", "#")):
                wrong.append((path.name, key, value))
    assert wrong == []


def test_the_profile_and_every_secret_of_the_compose_file_must_be_given() -> None:
    asked = set(re.findall(r"\$\{(\w+):\?\}", COMPOSE.read_text()))
    given = environment_names((DEPLOY / "compose/env.example").read_text())
    assert asked == {
        "POSTGRES_PASSWORD", "REDIS_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        "OWN_API_TOKEN", "PROFILE",
    }  # fmt: skip
    assert asked < given


def test_containers_of_the_compose_file_may_write_to_volumes_and_tmp_alone() -> None:
    for name, one in own_services().items():
        assert one["read_only"], name
        assert one["cap_drop"] == ["ALL"], name
        assert one["security_opt"] == ["no-new-privileges:true"], name
        assert "privileged" not in one
        assert "user" not in one, f"{name}: the image has its own user"
        assert one["restart"] in {"unless-stopped", "on-failure"}
        assert one["tmpfs"]


def test_published_ports_are_on_loopback_and_those_of_the_services() -> None:
    published = {
        name: one["ports"] for name, one in compose()["services"].items() if one.get("ports")
    }
    assert published == {
        "api": ["127.0.0.1:8780:8780"],
        "api-2": ["127.0.0.1:8782:8780"],
        "dagster-ui": ["127.0.0.1:8781:8781"],
    }
    default = ApiSettings.model_fields["api_port"].default
    assert default == 8780


def test_compose_dependencies_exist_and_have_health_checks() -> None:
    services = compose()["services"]
    conditions = {
        (other, how["condition"]) for one in services.values()
        for other, how in one.get("depends_on", {}).items()
    }  # fmt: skip
    for other, how in conditions:
        if how == "service_healthy":
            assert "test" in services[other]["healthcheck"]
    assert {other for other, _ in conditions} <= set(services)
    assert ("prepare", "service_completed_successfully") in conditions


def test_volumes_and_networks_are_declared() -> None:
    whole = compose()
    for one in whole["services"].values():
        assert set(one["networks"]) <= set(whole["networks"])
        for volume in one.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in whole["volumes"] or (COMPOSE.parent / source).is_file()
    assert whole["networks"]["inside"]["internal"]


def test_every_service_that_reads_the_platform_has_a_way_out() -> None:
    services = compose()["services"]
    ways_out = {name for name, one in services.items() if "outside" in one["networks"]}
    with_ports = {name for name, one in services.items() if one.get("ports")}
    assert ways_out - with_ports == {"worker", "celery"}
    assert {"api", "api-2"} <= ways_out


def test_pods_are_of_a_plain_user_with_a_read_only_root() -> None:
    for name, pod in pods().items():
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["securityContext"]["runAsUser"] == 10_001
        assert not pod["automountServiceAccountToken"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        mounted = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
        assert mounted == {"tmp": "/tmp", "home": "/var/lib/sametrack"}
        assert "memory" in container["resources"]["limits"]


def test_probes_ask_paths_that_are_open_under_a_name_that_is_served() -> None:
    asked = set()
    for pod in pods().values():
        (container,) = pod["containers"]
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            if kind in container:
                get = container[kind]["httpGet"]
                asked.add(get["path"])
                assert get["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    assert asked == {"/healthz", "/readyz", "/session"}


def test_no_more_runs_are_prepared_than_celery_workers_execute() -> None:
    found = dict(manifests())
    prepared = found["Deployment worker"]["spec"]["replicas"] * int(
        found["ConfigMap sametrack-settings"]["data"]["WORKER_RUNS"]
    )
    assert prepared <= found["Deployment celery"]["spec"]["replicas"]
    celery = compose()["services"]["celery"]["deploy"]["replicas"]
    assert compose()["services"]["worker"]["environment"]["WORKER_RUNS"] == celery


def test_values_of_the_chart_name_classes_and_a_location_that_exist() -> None:
    values = yaml.safe_load((DEPLOY / "kubernetes/dagster-values.yaml").read_text())
    launcher = values["runLauncher"]["config"]["customRunLauncher"]
    for one in (launcher, values["additionalInstanceConfig"]["local_artifact_storage"]):
        assert hasattr(importlib.import_module(one["module"]), one["class"])
    (location,) = values["dagster-user-deployments"]["deployments"]
    assert location["name"] == LOCATION
    ui = dict(manifests())["Deployment dagster-ui"]["spec"]["template"]["spec"]["containers"][0]
    assert f"{location['name']}:{location['port']}" in ui["args"]
    assert values["dagsterWebserver"]["replicaCount"] == 0, "it has no access policy"


def test_the_image_has_a_user_of_its_own_a_health_check_and_locked_packages() -> None:
    stages = (DEPLOY / "image/Containerfile").read_text().split("\nFROM ")
    final = stages[-1]
    assert len(stages) == 3
    assert "USER 10001:10001" in final
    assert "HEALTHCHECK" in final
    assert "pip install" not in final
    assert "apt-get" not in final
    whole = stages[1].replace("\\\n", " ").replace("&&", "\n")
    installing = [line for line in whole.splitlines() if re.search(r"\bpip\b.* install ", line)]
    assert len(installing) == 3
    assert all("--require-hashes" in one or "--no-index" in one for one in installing)


def test_the_server_lock_is_a_part_of_the_whole_one_without_tools_of_development() -> None:
    pinned = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
    whole = dict(pinned.findall((ROOT / "requirements.lock").read_text()))
    server = dict(pinned.findall((ROOT / "requirements-server.lock").read_text()))
    assert {name: version for name, version in server.items() if whole.get(name) != version} == {}
    assert {"celery", "dagster-postgres", "psycopg", "deltalake"} <= set(server)
    assert not {"pytest", "ruff", "mypy", "jupyterlab", "playwright"} & set(server)


def installed_units(folder: Path) -> list[Path]:
    """The units as on a server whose programs are those of this environment."""
    for path in (*UNITS, DEPLOY / "systemd" / "sametrack.target"):
        here = path.read_text().replace("/opt/sametrack/bin", str(Path(sys.executable).parent))
        (folder / path.name).write_text(here)
    return sorted(folder.iterdir())


@pytest.fixture
def systemd_analyze() -> str:
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("no systemd-analyze here")
    return found


def test_systemd_accepts_the_units(systemd_analyze: str, tmp_path: Path) -> None:
    said = subprocess.run(
        [systemd_analyze, "verify", "--man=no", *installed_units(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [line for line in said.stderr.splitlines() if "sametrack" in line] == []


def test_units_are_little_exposed(systemd_analyze: str, tmp_path: Path) -> None:
    services = [path for path in installed_units(tmp_path) if path.suffix == ".service"]
    assert len(services) == 5
    for path in services:
        said = subprocess.run(
            [systemd_analyze, "security", "--offline=true", "--threshold=20", path],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert said.returncode == 0, said.stdout[-200:]


def test_units_start_the_same_processes_as_sametrack_up(tmp_path: Path) -> None:
    target = dict(unit(DEPLOY / "systemd" / "sametrack.target"))
    assert sorted(target["Wants"].split()) == [path.name for path in UNITS]
    for path in UNITS:
        read = dict(unit(path))
        assert read["User"] == "sametrack"
        assert read["NoNewPrivileges"] == "yes"
        assert read["ProtectSystem"] == "strict"
        assert read["StateDirectory"] == "sametrack"
        assert read["Restart"] == "always"


def settings_of(data: Mapping[str, str]) -> ApiSettings:
    values: Any = {name.lower(): value for name, value in data.items()}
    return ApiSettings(**values, _env_file=None)


def test_settings_of_the_examples_are_valid_once_they_are_filled_in() -> None:
    found = dict(manifests())["ConfigMap sametrack-settings"]["data"]
    known = {
        name: value for name, value in found.items() if name.lower() in ApiSettings.model_fields
    }
    assert settings_of({**known, "OWN_API_TOKEN": "filled-in"}).runs == "remote"
    with pytest.raises(ValueError, match="OWN_API_TOKEN is required"):
        settings_of(known)
