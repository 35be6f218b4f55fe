"""A stand-in platform of its own process, shared by all tests of this folder."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
import pytest

from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.content.tables import SandboxVideo, VideoState
from sandbox.world.world import SandboxWorld
from tests.children import platform as running_platform
from tests.deployment import PATIENCE_S

Json = dict[str, Any]

SEED, SIZE = 31, 0.2


@dataclass(frozen=True)
class Sandbox:
    """A running platform, its client and the world that it shows."""

    process: subprocess.Popen[str]
    port: int
    client: httpx.Client
    world: SandboxWorld

    def get(
        self, address: str, *, host: str = "share.vidplat.localhost", **headers: str
    ) -> httpx.Response:
        """Ask for a path, or for an address of the platform; redirects are not followed."""
        if address.startswith("http"):
            url = httpx.URL(address)
            assert url.host.endswith(".localhost")
            host, address = url.host, url.raw_path.decode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.get(address, headers={"host": f"{host}:{self.port}", **named})

    def control_data(self, path: str, **query: str | int) -> Json:
        """What the world's own door says."""
        answer = self.client.get(f"/_world/{path}", params=query)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def works(self, **wanted: object) -> Iterator[SandboxVideo]:
        """Works with these attributes, oldest first."""
        rows = map(self.world.works.row, range(len(self.world.works)))
        return (
            work
            for work in rows
            if all(getattr(work, name) == value for name, value in wanted.items())
        )

    def shown(self, **wanted: object) -> SandboxVideo:
        """A public work whose page is never withheld."""
        works = self.works(state=VideoState.PUBLIC, **wanted)
        return next(work for work in works if not is_withheld(work, has_cookie=False))

    def page_item(self, path: str) -> Json:
        """The work that a share page shows."""
        item: Json = page_data(self.get(path).text)["videoInfoRes"]["item_list"][0]
        return item

    def details(self, aweme_id: str, extra: str = "") -> Json:
        """What the second source answers for a work."""
        path = f"/web/api/v2/aweme/slidesinfo/?aweme_ids=[{aweme_id}]{extra}"
        answer: Json = self.get(path).json()
        return answer

    def fault(self, **fields: object) -> None:
        """Put a fault into force."""
        answer = self.client.post("/_world/faults", json=fields)
        assert answer.status_code == 200, answer.text

    def switch(self, *chosen: str, mode: str = "generous") -> None:
        """Turn switches on."""
        asked = {"mode": mode, "switches": list(chosen)}
        answer = self.client.post("/_world/switches", json=asked)
        assert answer.status_code == 200, answer.text


def page_data(page: str) -> Json:
    """The data that a share page carries, whatever its key."""
    found = re.search(r"<script>window\._ROUTER_DATA = (.*?)</script>", page)
    assert found is not None
    loaded: Json = json.loads(found[1])["loaderData"]
    return next(value for value in loaded.values() if value is not None)


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A platform that runs as long as the tests."""
    cache = tmp_path_factory.mktemp("cache")
    with (
        running_platform(cache, seed=SEED, size=SIZE, is_measured=True) as (process, port),
        closing(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S)) as client,
    ):
        yield Sandbox(process, port, client, SandboxWorld(SEED, SIZE))


@pytest.fixture
def sandbox(platform: Sandbox) -> Iterator[Sandbox]:
    """The platform with no fault in force, no cookie, its own time and an empty log."""
    platform.client.cookies.clear()
    offset = platform.client.get("/_world/clock").json()["offset_s"]
    platform.client.post("/_world/clock", json={"advance_s": -offset})
    platform.client.request("DELETE", "/_world/faults")
    platform.client.request("DELETE", "/_world/access-log/summary")
    yield platform
    platform.client.request("DELETE", "/_world/faults")
    platform.client.request("DELETE", "/_world/switches")
