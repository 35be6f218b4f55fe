"""Sessions: what a cookie opens, and what ends it."""

import hmac
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

from itsdangerous import URLSafeSerializer
from starlette.types import Scope

from api.server.access.roles import Role
from api.server.access.sessions import (
    COOKIE,
    KEY_BYTES,
    KEY_FILE,
    Sessions,
    SessionsInMemory,
    SessionStore,
    open_session_key,
)
from api.server.access.tokens import TokenStore, holder_of
from warehouse.control import open_control
from warehouse.control.access.sessions import StoredSessions

READER = holder_of("look", Role.READ)
OPERATOR = holder_of("all", Role.OPERATE)
NOON = 1_800_000_000.0


class Hours:
    """A clock that is moved."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


STORE = SessionsInMemory()
"""Shared by all processes of these tests, as a control store is."""


def opened(
    folder: Path, *holders: object, clock: Hours | None = None, store: SessionStore = STORE
) -> Sessions:
    tokens = TokenStore(holders or (READER, OPERATOR))  # type: ignore[arg-type]  # holders, or the default
    return Sessions(tokens, store, folder=folder, clock=clock or Hours(), hours=12)


def carrying(value: str) -> Scope:
    cookies = f"theme=dark; {COOKIE}={value}; other=1"
    return {"type": "http", "headers": [(b"cookie", cookies.encode())]}


def content(value: str) -> list[Any]:
    """What a cookie holds, whoever signed it."""
    found: list[Any] = URLSafeSerializer("").loads_unsafe(value)[1]
    return found


async def test_a_session_has_the_role_of_its_token(tmp_path: Path) -> None:
    sessions = opened(tmp_path)
    for holder in (READER, OPERATOR):
        assert await sessions.find_in(carrying(await sessions.begin(holder))) == holder


async def test_session_is_valid_in_other_processes_of_the_installation(tmp_path: Path) -> None:
    value = await opened(tmp_path).begin(READER)
    assert await opened(tmp_path).find_in(carrying(value)) == READER


async def test_session_is_invalid_in_another_installation(tmp_path: Path) -> None:
    value = await opened(tmp_path / "one").begin(READER)
    assert await opened(tmp_path / "two").find_in(carrying(value)) is None


async def test_session_expires_after_twelve_hours(tmp_path: Path) -> None:
    clock = Hours()
    sessions = opened(tmp_path, clock=clock)
    value = await sessions.begin(READER)
    clock.now = NOON + 12 * 3600 - 1
    assert await sessions.find_in(carrying(value)) == READER
    clock.now = NOON + 12 * 3600
    assert await sessions.find_in(carrying(value)) is None


async def test_session_ends_when_its_token_is_removed(tmp_path: Path) -> None:
    value = await opened(tmp_path).begin(READER)
    assert await opened(tmp_path, OPERATOR).find_in(carrying(value)) is None


async def test_session_has_the_current_role_of_its_token(tmp_path: Path) -> None:
    value = await opened(tmp_path).begin(holder_of("all", Role.OPERATE))
    lowered = holder_of("all", Role.READ)
    assert await opened(tmp_path, lowered).find_in(carrying(value)) == lowered


async def test_signing_out_ends_every_copy_at_every_listener(tmp_path: Path) -> None:
    with closing(open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="mock")) as first:
        service = opened(tmp_path, store=StoredSessions(first))
        copied, other = await service.begin(READER), await service.begin(READER)
        with closing(
            open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="mock")
        ) as second:
            dagster = opened(tmp_path, store=StoredSessions(second))
            assert await dagster.find_in(carrying(copied)) == READER
            await dagster.end(carrying(copied))
            for listener in (service, dagster):
                assert await listener.find_in(carrying(copied)) is None
                assert await listener.find_in(carrying(other)) == READER
            await dagster.end(carrying(copied))  # again: nothing to end
    with closing(open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="mock")) as third:
        restarted = opened(tmp_path, store=StoredSessions(third))
        assert await restarted.find_in(carrying(copied)) is None
        assert await restarted.find_in(carrying(other)) == READER


async def test_a_forged_cookie_ends_no_session(tmp_path: Path) -> None:
    sessions = opened(tmp_path)
    value = await sessions.begin(READER)
    forged = ("0" if value[-3] != "0" else "1").join((value[:-3], value[-2:]))
    await sessions.end(carrying(forged))
    assert await sessions.find_in(carrying(value)) == READER


async def test_sessions_that_have_ended_leave_nothing_in_the_store(tmp_path: Path) -> None:
    clock = Hours()
    with closing(open_control(f"sqlite:///{tmp_path / 'control.sqlite'}", world="mock")) as control:
        stores: tuple[SessionStore, ...] = (StoredSessions(control), SessionsInMemory())
        for store in stores:
            sessions = opened(tmp_path, clock=clock, store=store)
            ids = [content(await sessions.begin(READER))[0] for _ in range(2)]
            clock.now += 12 * 3600
            ids.append(content(await sessions.begin(READER))[0])
            assert [store.has_session(one) for one in ids] == [False, False, True]


async def test_no_changed_value_is_accepted(tmp_path: Path) -> None:
    sessions = opened(tmp_path)
    mine, others = await sessions.begin(READER), await sessions.begin(OPERATOR)
    payload, _, signature = mine.rpartition(".")
    session_id, name, ends = content(mine)
    forger, key = URLSafeSerializer(b"x" * KEY_BYTES, salt=COOKIE), open_session_key(tmp_path)
    later = str(forger.dumps([session_id, name, ends + 1])).rpartition(".")[0]
    old = f"v2.{session_id}.{name}.{ends}"
    for value in (
        "", "v2", "null", payload, f"{payload}.", f".{signature}", f"{payload}.{signature[::-1]}",
        f"{later}.{signature}", f"{others.rpartition('.')[0]}.{signature}",
        forger.dumps([session_id, name, ends]),
        URLSafeSerializer(key, salt="other").dumps([session_id, name, ends]),
        f"{old}.{hmac.digest(key, old.encode(), 'sha256').hex()}",  # of an earlier release
    ):  # fmt: skip
        assert await sessions.find_in(carrying(str(value))) is None, value
    assert await sessions.find_in(carrying(mine)) == READER


async def test_neither_the_token_nor_its_digest_is_in_the_cookie(tmp_path: Path) -> None:
    value = await opened(tmp_path).begin(READER)
    assert "look" not in value
    assert READER.digest.hex()[:16] not in value


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    key = open_session_key(tmp_path / "home")
    assert open_session_key(tmp_path / "home") == key
    assert len(key) == 32
    kept = list((tmp_path / "home").iterdir())
    assert [path.name for path in kept] == ["session.key"]
    assert stat.S_IMODE(kept[0].stat().st_mode) == 0o600


async def test_a_damaged_key_is_replaced_and_opens_nothing(tmp_path: Path) -> None:
    before = await opened(tmp_path).begin(READER)
    (tmp_path / KEY_FILE).write_bytes(b"")
    sessions = opened(tmp_path)
    assert await sessions.find_in(carrying(before)) is None
    assert await sessions.find_in(carrying(await sessions.begin(READER))) == READER
    assert len(open_session_key(tmp_path)) == KEY_BYTES
