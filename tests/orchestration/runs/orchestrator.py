"""The orchestrator of a stage: code server, daemon and UI, and a client of its GraphQL."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from api.cli.commands.system.up import UpConfig, programs
from api.cli.processes.child_processes import Supervisor, find_port
from pipelines.orchestration.instance import dagster_environment
from pipelines.settings import Settings
from tests.deployment import LOCAL, Deployment, wait_for

ASSET_JOB = "__ASSET_JOB"
PLACE = {"repositoryName": "__repository__", "repositoryLocationName": "sametrack"}

LAUNCH = """mutation($p: ExecutionParams!) { launchPipelineExecution(executionParams: $p) {
    __typename ... on LaunchRunSuccess { run { runId } } } }"""
REPEAT = """mutation($p: ReexecutionParams!) { launchRunReexecution(reexecutionParams: $p) {
    __typename ... on LaunchRunSuccess { run { runId } } } }"""
TERMINATE = """mutation($id: String!) { terminateRun(runId: $id) { __typename } }"""
FILL = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
    __typename ... on LaunchBackfillSuccess { backfillId } } }"""
RUN = """query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"""
RUNS_OF = """query($id: String!) { partitionBackfillOrError(backfillId: $id) {
    ... on PartitionBackfill { status runs(limit: 10) { id status } } } }"""
ERRORS = """query($id: ID!) { logsForRun(runId: $id, limit: 1000) {
    ... on EventConnection { events { ... on ErrorEvent { error { message } } } } } }"""


def launch_parameters(partition: str, *assets: str, job: str = ASSET_JOB) -> dict[str, Any]:
    """What the launchpad sends: assets of a partition, or a job for it."""
    keys = [{"path": asset.split("/")} for asset in assets]
    return {
        "selector": PLACE | {"jobName": job, "assetSelection": keys or None},
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": partition}]},
        "mode": "default",
        "runConfigData": {},
    }


@dataclass(frozen=True, slots=True)
class Orchestrator:
    """Does what the pages of the UI do, by the requests that they send."""

    port: int
    deployment: Deployment

    def ask(self, text: str, **variables: Any) -> Any:
        answer = LOCAL.post(
            f"http://127.0.0.1:{self.port}/graphql",
            json={"query": text, "variables": variables},
            timeout=120,
        ).raise_for_status()
        document = answer.json()
        assert "errors" not in document, document["errors"]
        (found,) = document["data"].values()
        return found

    def add_track(self, music_id: str) -> str:
        """Make the partition of a track, as a scan of it does; returns its key."""
        with self.deployment.instance() as instance:
            instance.add_dynamic_partitions("tracks", [f"music:{music_id}"])
        return f"music:{music_id}"

    def launch(self, partition: str, *assets: str, job: str = ASSET_JOB) -> str:
        """Materialize assets of a partition, or launch a job for it; returns the run."""
        parameters = launch_parameters(partition, *assets, job=job)
        return str(self.ask(LAUNCH, p=parameters)["run"]["runId"])

    def retry(self, run_id: str) -> str:
        """Retry a run from its failure; returns the new run."""
        given = {"parentRunId": run_id, "strategy": "FROM_FAILURE"}
        return str(self.ask(REPEAT, p=given)["run"]["runId"])

    def terminate(self, run_id: str) -> None:
        self.ask(TERMINATE, id=run_id)

    def fill(self, asset: str, partitions: list[str]) -> dict[str, str]:
        """Back-fill partitions of an asset; returns the status of each run when all have ended."""
        keys = [{"path": asset.split("/")}]
        backfill = self.ask(FILL, p={"assetSelection": keys, "partitionNames": partitions})

        def ended() -> bool:
            found = self.ask(RUNS_OF, id=backfill["backfillId"])
            return str(found["status"]).startswith("COMPLETED")

        wait_for(ended, every_s=0.5)
        runs = self.ask(RUNS_OF, id=backfill["backfillId"])["runs"]
        return {run["id"]: run["status"] for run in runs}

    def ended(self, run_id: str) -> str:
        """Wait for the end of a run; returns its status."""
        done = ("SUCCESS", "FAILURE", "CANCELED")
        wait_for(lambda: self.ask(RUN, id=run_id)["status"] in done, every_s=0.5)
        return str(self.ask(RUN, id=run_id)["status"])

    def errors(self, run_id: str) -> str:
        """What the failed steps of a run said."""
        events = self.ask(ERRORS, id=run_id)["events"]
        return "\n".join(one["error"]["message"] for one in events if one.get("error"))


def start_orchestrator(deployment: Deployment, folder: Path) -> Orchestrator:
    """Start what `sametrack up` starts besides service and worker."""
    dagster = dagster_environment(Settings(_env_file=None), deployment.home)
    plan = UpConfig(
        profile="sandbox", world="sandbox", api_host="127.0.0.1", api_port=find_port(),
        dagster_port=find_port(), sandbox_port=None, seed=5, size=0.1, calendar="fixed",
        logs=folder / "logs", dagster=dagster, run_dir=folder,
        has_token=False,
    )  # fmt: skip
    with deployment.instance():
        """Make its files, so that the processes do not race for that."""
    chosen = [
        replace(program, env={**(program.env or {}), **deployment.environment(), **dagster})
        for program in programs(plan)
        if program.name in {"code-server", "daemon", "dagster"}
    ]
    ready: list[bool] = []
    supervisor = Supervisor(deployment.process_group, chosen, on_ready=lambda: ready.append(True))

    def are_ready() -> bool:
        supervisor.step()
        return bool(ready)

    deployment.wait(are_ready)
    return Orchestrator(plan.dagster_port, deployment)
