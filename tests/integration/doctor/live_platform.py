"""The stand-in platform as a live check meets it, and what its report says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.doctor.live_check.round import LiveCheckTimes
from pipelines.doctor.live_check.run import LiveCheckRequest, LiveCheckResult, run_live_check
from pipelines.platform.profiles import load_profile
from pipelines.settings import Settings
from tests.stage import LOCAL

PATIENCE_S = 600.0  # a machine may be busy with other things


@dataclass(frozen=True)
class LivePlatform:
    """The stand-in platform, and a folder for homes and results."""

    port: int
    place: Path

    def switch(self, *switches: str, mode: str = "generous") -> None:
        """The platform as it is from now on; nothing of it is remembered as asked."""
        LOCAL.delete(f"{self.world}/switches").raise_for_status()
        chosen = {"mode": mode, "switches": switches}
        LOCAL.post(f"{self.world}/switches", json=chosen).raise_for_status()
        LOCAL.delete(f"{self.world}/access-log/summary").raise_for_status()

    def settings(self, **values: Any) -> Settings:
        given = {"profile": "sandbox", "data_home": self.place / "home", **values}
        return Settings(_env_file=None, sandbox_port=self.port, listening_workers=1, **given)

    def check(self, name: str, *, is_pseudonymised: bool = False, **values: Any) -> LiveCheckResult:
        """A live check in this process, into a folder of this name."""
        settings = self.settings(**values)
        return run_live_check(
            LiveCheckRequest(
                settings=settings,
                profile=load_profile(
                    settings.profile, sandbox_port=self.port, patch=settings.profile_patch
                ),
                folder=self.place / name,
                is_pseudonymised=is_pseudonymised,
                times=LiveCheckTimes.within(PATIENCE_S),
            )
        )

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since the last switch, robots.txt included."""
        log = LOCAL.get(f"{self.world}/access-log/requests", params={"limit": 500}).json()
        found: list[dict[str, Any]] = log["requests"]
        return found

    @property
    def world(self) -> str:
        return f"http://127.0.0.1:{self.port}/_world"


def outcomes(report: dict[str, Any]) -> dict[str, str]:
    return {one["surface"]: one["outcome"] for one in report["surfaces"]}
