"""Kill -9 of any one process at random moments of scans, and look at what is left.

`python -m benchmarks.fuzz.kills [--moments 100] [--seed N]`. Half of the kills meet runs in
processes of the worker, half runs that Dagster launches. A scan is killed as often as its
attempts allow. After each kill every observation that was committed is still there; at last the job
has completed with the result and the rows of an undisturbed scan, and its runs agree; in the end no
table has two rows of one key. One kill in three is aimed at the time while sounds are compared, and
some at stages that are over in no time. Prints the seed, so that a run can be repeated, and how
many kills met each stage.
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from dagster import DagsterRunStatus

from pipelines.orchestration.runs.reconciliation import run_id
from tests.deployment import Deployment, open_deployment, wait_for
from tests.orchestration.runs.orchestrator import start_orchestrator
from warehouse.control import jobs, links
from warehouse.queries.results import read_result_document
from warehouse.records.jobs import FINAL_STATUSES, MAX_ATTEMPTS, STAGES, Job
from warehouse.tables import TABLES

SEED, SIZE, LATENCY_MS = 5, 0.1, 5
CANDIDATES, PROFILES = 15, 5
LISTENING = "confirmed_videos"
STEP_ROWS = {
    "marts.music_first_screen": "source_entity_id, position, aweme_id, music_id",
    "marts.author_first_screens": "source_entity_id, position, aweme_id, music_id",
    "marts.hashtag_first_screens": "source_entity_id, position, aweme_id, music_id",
    "marts.candidate_pool": "position, aweme_id, source_surface, source_entity_id",
    "marts.video_details": "aweme_id, outcome, reason, music_id, sec_uid",
    "marts.account_profiles": "position, sec_uid, profile_observed_at is null as is_unknown",
    "marts.candidates": "aweme_id, outcome, reason",
    "marts.audio_comparisons": "reference_aweme_id, candidate_aweme_id, verdict, reason, score",
}
"""What each step writes, apart from ids of the job and times; rankings follow `count`."""
VICTIMS = ("worker", "scan process", "listening child", "service")
RUN_OF = {
    "completed": DagsterRunStatus.SUCCESS,
    "failed": DagsterRunStatus.FAILURE,
    "cancelled": DagsterRunStatus.CANCELED,
}


@dataclass(frozen=True)
class Aim:
    """Which stage a kill is aimed at; by what share of them, and what holds the scan there.

    `surface`: it is left unanswered until the kill, because the stage would be over in no time.
    """

    stage: str | None
    share: float
    surface: str | None = None


ANY, AT_LISTENING = Aim(None, 1 / 2), Aim(LISTENING, 1 / 3)
AT_LINK = Aim("resolving", 1 / 12, "short_link")
AT_PROFILES = Aim("account_profiles", 1 / 12, "user_info")
AIMS = (ANY, AT_LISTENING, AT_LINK, AT_PROFILES)
LATER_AIMS = (ANY, AT_LISTENING)
"""What a job that goes on can be met at: it has the other stages behind it."""


@dataclass
class Hunt:
    """A deployment with everything running, and what an undisturbed scan confirms."""

    deployment: Deployment
    chance: random.Random
    is_remote: bool = False
    number: int = 0
    expected: dict[str, Any] = field(default_factory=dict)
    duration_s: float = 1.0
    listening_s: float = 1.0
    aims_first: list[Aim] = field(default_factory=lambda: [AT_PROFILES, AT_LINK])
    killed: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)

    def prepare(self) -> None:
        """Start all processes and scan without a disturbance."""
        self.deployment.start_platform(seed=SEED, size=SIZE, latency_ms=LATENCY_MS)
        if self.is_remote:
            # The worker may send one more heartbeat for a run that was killed as it began.
            self.deployment.settings |= {"RUNS": "remote", "WORKER_LOST_AFTER_S": "30"}
            start_orchestrator(self.deployment, self.deployment.root)
        self.deployment.start_worker()
        self.deployment.start_api()
        self.track = self.deployment.world("/_world/tracks")["tracks"][0]
        self.deployment.ended(self.ask())  # from now on the warehouse knows the sounds
        self.expected = self.outcome(self.deployment.ended(self.ask()))

    def measure(self) -> None:
        """Scan undisturbed as each kill will meet a scan, and take the time of it."""
        for aim in (AT_LINK, AT_PROFILES):
            self.compare(self.deployment.ended(self.ask(aim)))
        job_id = self.ask()
        self.compare(self.deployment.ended(job_id))
        spent = self.deployment.stopwatch(job_id)
        self.duration_s, self.listening_s = spent["total_s"], spent["listening_s"]

    def ask(self, aim: Aim = ANY) -> str:
        """A scan that reads everything again; each is a wish of its own.

        Where a link leads, and profiles, are read again later only, unless a kill is aimed there.
        """
        self.number += 1
        music_id, link = self.track["music_id"], self.track["share_link"]
        if aim is AT_LINK:  # nobody remembers where it leads
            links.save(self.deployment.control, link, "music", music_id, ttl_s=-1.0)
        if aim is AT_PROFILES:
            ids = [job.job_id for job in jobs.newest(self.deployment.control, limit=1000)]
            self.deployment.engine.lake.delete("raw.accounts", "job_id", ids)
        return self.deployment.ask(
            link if aim is AT_LINK else music_id,
            music_id=None if aim is AT_LINK else music_id,
            refresh=True,
            candidate_limit=CANDIDATES,
            account_profile_limit=PROFILES,
            count=100 + self.number % 400,  # more than there are, so all are ranked
        )

    def outcome(self, job: Job) -> dict[str, Any]:
        """What a job found, in its order, and what it could not see."""
        assert job.status == "completed", job.error
        self.deployment.engine.refresh()
        document = read_result_document(self.deployment.engine, job.job_id)
        assert document is not None
        return {
            **{table: self.rows_of(job, table, columns) for table, columns in STEP_ROWS.items()},
            "confirmed": [
                (video["aweme_id"], video["link_type"], video["source_music_id"])
                for video in document["ranked"]
            ],
            "coverage": _coverage(document["coverage"]),
        }

    def rows_of(self, job: Job, table: str, columns: str) -> list[dict[str, Any]]:
        """The rows of a job in a table, in one order, each as often as it is there."""
        return self.deployment.rows(
            f"select {columns} from {table} where job_id = $id order by all", id=job.job_id
        )

    def duplicates(self) -> dict[str, int]:
        """Keys that more than one row has, by table."""
        self.deployment.engine.refresh()
        counts = {
            table.name: self.deployment.rows(
                f"select count(*) as n from (select {', '.join(table.key)} from {table.name} "
                "group by all having count(*) > 1)"
            )[0]["n"]
            for table in TABLES
        }
        return {name: count for name, count in counts.items() if count}

    def kept(self) -> set[str]:
        """Captures that were committed."""
        return {
            row["capture_id"] for row in self.deployment.rows("select capture_id from raw.captures")
        }

    def kill_scan(self, kills: int) -> str:
        """Scan, kill a random process so many times meanwhile, and return how the job ended."""
        first = aim = self.aims_first.pop() if self.aims_first else self._choose(AIMS)
        if first.surface is not None:
            self.deployment.hold(first.surface, after=0)
        job_id = self.ask(first)
        for _ in range(kills):
            if not self.await_moment(job_id, aim):
                break
            # A link is followed by the worker: there is no run yet.
            victims = ("worker", "service") if aim is AT_LINK else VICTIMS
            self.kill_one(job_id, self.chance.choice(victims))
            aim = self._choose(LATER_AIMS)
        self.deployment.settle()
        return self.judge(job_id)

    def _choose(self, aims: Sequence[Aim]) -> Aim:
        return self.chance.choices(aims, [aim.share for aim in aims])[0]

    def await_moment(self, job_id: str, aim: Aim) -> bool:
        """Wait for a random moment of a running scan; False if it has ended before."""

        def running() -> Job | None:
            job = self.deployment.job(job_id)
            is_there = aim.stage in {None, job.progress.stage}
            return job if job.finished_at or (job.status == "running" and is_there) else None

        wait_for(running)
        longest_s = {ANY: self.duration_s, AT_LISTENING: self.listening_s}.get(aim, 0.2)
        time.sleep(self.chance.uniform(0.0, longest_s))
        return self.deployment.job(job_id).finished_at is None

    def strike(self, job_id: str, victim: str) -> str:
        """Kill one process while a job runs, and look at what is left; how the job ended."""
        self.kill_one(job_id, victim)
        return self.judge(job_id)

    def kill_one(self, job_id: str, victim: str) -> None:
        """Kill one process while a job runs, and look for what was committed before."""
        before, stage = self.kept(), self.deployment.job(job_id).progress.stage
        self.kill(victim)
        self.deployment.settle()
        assert before <= self.kept(), "a committed observation is lost"
        self.killed[victim] += 1
        self.stages[stage] += 1
        print(f"{self.killed.total():4} {victim:16} {stage}", flush=True)

    def judge(self, job_id: str) -> str:
        """Wait for the end of a job and compare it with the undisturbed scan."""
        job = self.deployment.ended(job_id)
        assert job.status in FINAL_STATUSES
        self.compare(job)
        self.deployment.wait(lambda: self.runs_agree(job))
        return job.status

    def compare(self, job: Job) -> None:
        """Compare what a job found with the undisturbed scan."""
        found = self.outcome(job)
        differing = {name: (found[name], self.expected[name]) for name in found}
        differing = {name: pair for name, pair in differing.items() if pair[0] != pair[1]}
        assert not differing, f"found, expected: {differing}"

    def runs_agree(self, job: Job) -> bool:
        """True when the last run says what the row says, and the lost ones before it failed.

        A run that was killed early has no record.
        """
        with self.deployment.instance() as instance:
            names = [run_id(job.job_id, number) for number in range(1, job.run_number + 1)]
            runs = [instance.get_run_by_id(name) for name in names]
        expected = [*[DagsterRunStatus.FAILURE] * (len(runs) - 1), RUN_OF[job.status]]
        return all(
            run is None or run.status == status for run, status in zip(runs, expected, strict=True)
        )

    def kill(self, victim: str) -> None:
        """Kill one process without a word, and start again what nobody else would."""
        assert self.deployment.worker is not None
        worker = psutil.Process(self.deployment.worker.process.pid)
        if victim == "worker":
            below = worker.children(recursive=True)
            worker.kill()
            self.deployment.wait(lambda: not any(one.is_running() for one in below))
            # a remote run goes on, and sends its next heartbeat
            self.deployment.pronounce_worker_dead()
            self.deployment.start_worker()
        elif victim == "service":
            (service,) = [
                child
                for child in self.deployment.process_group._children
                if child.name == "serve" and child.exit_code() is None
            ]
            psutil.Process(service.process.pid).kill()
            service.process.wait()
            # the scan goes on meanwhile; requests held too long would fail
            self.deployment.settle()
            self.deployment.start_api()
        else:
            # the one killed before may not have its successor yet
            scans = wait_for(self._remote_runs if self.is_remote else lambda: _scans_of(worker))
            listeners = [child for scan in scans for child in scan.children()]
            chosen = listeners if victim == "listening child" and listeners else scans
            self.chance.choice(chosen).kill()
            if self.is_remote and chosen is scans:
                # nobody here sees that a remote run is gone
                self.deployment.pronounce_worker_dead()

    def _remote_runs(self) -> list[psutil.Process]:
        """Return the processes of runs that the code server has started."""
        (server,) = [
            child
            for child in self.deployment.process_group._children
            if child.name == "code-server"
        ]
        below = psutil.Process(server.process.pid).children()
        return [process for process in below if _has_word(process, "spawn_main")]


def _coverage(coverage: dict[str, Any]) -> dict[str, Any]:
    """The coverage of a scan, without what surfaces answered to any job lately.

    The number of requests is left out too: one that was held while a process was killed may have
    been given up and sent again. `test_resuming.py` holds that nothing is requested twice.
    """
    of_all_jobs = {"latest_answers", "latest_refusals"}
    left_out = {"requests", "tried", *of_all_jobs}

    def plain(entry: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in entry.items() if name not in left_out}

    def plain_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # profiles are read again after ten minutes only, or when a kill is aimed there
        return [plain(row) for row in rows if row["surface"] != "user_info"]

    return {
        **coverage,
        "sources": plain_rows(coverage["sources"]),
        "decisions": plain_rows(coverage["decisions"]),
        # the id of the job decides which videos an audit draws; here none are drawn
        "audit": {name: value for name, value in coverage["audit"].items() if name != "seed"},
    }


def _scans_of(worker: psutil.Process) -> list[psutil.Process]:
    """Return the scan processes of a worker, which are forked from its fork server."""
    below = worker.children(recursive=True)
    return [process for process in below if _has_word(process, "sametrack: run")]


def _has_word(process: psutil.Process, word: str) -> bool:
    try:
        return word in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False  # it has just ended


def hunt(root: Path, sounds: Path, *, moments: int, seed: int, is_remote: bool) -> Hunt:
    """Kill at so many moments; returns what was killed in which stage."""
    root.mkdir()
    with open_deployment(root, sounds) as deployment:
        deployment.settings["RANDOM_AUDIT_SIZE"] = (
            "0"  # each job would draw and compare other videos
        )
        found = Hunt(deployment, random.Random(seed), is_remote)
        found.prepare()
        found.measure()
        kind = "launched" if is_remote else "local"
        print(f"{kind} runs, seed {seed}; a scan takes {found.duration_s:.1f} s", flush=True)
        while (left := moments - found.killed.total()) > 0:
            status = found.kill_scan(min(left, MAX_ATTEMPTS - 1))
            print(f"     job {status}", flush=True)
        assert not found.duplicates()
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    options = parser.parse_args()
    killed, stages = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for kind, is_remote in (("local", False), ("launched", True)):
            found = hunt(
                root / kind, root / "sounds", moments=(options.moments + is_remote) // 2,
                seed=options.seed, is_remote=is_remote,
            )  # fmt: skip
            killed += found.killed
            stages += found.stages
    for victim in VICTIMS:
        print(f"{killed[victim]:5} x {victim}")
    for stage in STAGES:
        print(f"{stages[stage]:5} x {stage}")


if __name__ == "__main__":
    main()
