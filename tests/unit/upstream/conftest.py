"""A client that answers from a script, and the shape files. Fakes of this area live here."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.domain.errors import SametrackError
from pipelines.upstream.http import Ask, GuestClient, HttpLimits
from pipelines.upstream.profiles import Profile, load_profile
from pipelines.upstream.trail import Answer, note_answer, note_request

SHAPES = Path(__file__).parents[2] / "shapes"
SEEN_AT = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One entry of the index."""

    file: str
    parser: str
    asked: str
    status: int
    outcome: str
    source: str
    location: str | None = None

    @property
    def body(self) -> bytes:
        return (SHAPES / self.file).read_bytes()

    def answer(self, surface: str) -> Answer:
        return Answer(
            surface=surface,
            url=f"http://share.vidplat.localhost/{self.file}",
            status=self.status,
            content_type=None,
            body=self.body,
            fetched_at=SEEN_AT,
            location=self.location,
        )


def read_index() -> list[Shape]:
    index = tomllib.loads((SHAPES / "index.toml").read_text(encoding="utf-8"))
    return [Shape(**entry) for entry in index["shape"]]


class ScriptedClient(GuestClient):
    """Answers in the order of its script; an error in it is raised."""

    def __init__(self, profile: Profile, script: Sequence[Answer | SametrackError]) -> None:
        self.profile = profile
        self.limits = HttpLimits()
        self.asked: list[Ask] = []
        self.is_closed = False
        self._script = list(script)

    async def fetch(self, ask: Ask) -> Answer:
        note_request()
        self.asked.append(ask)
        step = self._script.pop(0)
        if isinstance(step, SametrackError):
            raise step
        answer = replace(step, surface=ask.surface)
        note_answer(answer)
        return answer

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.fixture
def profile() -> Profile:
    return load_profile("sandbox", sandbox_port=8790)


@pytest.fixture
def shape_named() -> Callable[[str], Shape]:
    known = {shape.file: shape for shape in read_index()}
    return known.__getitem__


@pytest.fixture
def scripted(profile: Profile) -> Callable[[Sequence[Answer | SametrackError]], ScriptedClient]:
    return lambda script: ScriptedClient(profile, script)


@pytest.fixture
def shapes() -> list[Shape]:
    return read_index()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shape" in metafunc.fixturenames:
        index = read_index()
        metafunc.parametrize("shape", index, ids=[shape.file for shape in index])
