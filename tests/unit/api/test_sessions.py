"""Sessions: what a cookie opens, and what ends it."""

import stat
from pathlib import Path

from api.server.access.roles import Role
from api.server.access.sessions import COOKIE, KEY_BYTES, KEY_FILE, Sessions, open_session_key
from api.server.access.tokens import TokenBook, holder_of

READER = holder_of("look", Role.READ)
OPERATOR = holder_of("all", Role.OPERATE)
NOON = 1_800_000_000.0


class Hours:
    """A clock that is moved."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


def opened(folder: Path, *holders: object, clock: Hours | None = None) -> Sessions:
    book = TokenBook(holders or (READER, OPERATOR))  # type: ignore[arg-type]  # holders, or the default
    return Sessions(book, folder=folder, clock=clock or Hours(), hours=12)


def carrying(value: str) -> list[tuple[bytes, bytes]]:
    return [(b"cookie", f"theme=dark; {COOKIE}={value}; other=1".encode())]


def test_a_session_has_the_role_of_its_token(tmp_path: Path) -> None:
    sessions = opened(tmp_path)
    for holder in (READER, OPERATOR):
        assert sessions.find_in(carrying(sessions.issue(holder))) == holder


def test_another_process_of_the_installation_accepts_it(tmp_path: Path) -> None:
    value = opened(tmp_path).issue(READER)
    assert opened(tmp_path).find_in(carrying(value)) == READER


def test_another_installation_does_not(tmp_path: Path) -> None:
    value = opened(tmp_path / "one").issue(READER)
    assert opened(tmp_path / "two").find_in(carrying(value)) is None


def test_it_ends_after_its_hours(tmp_path: Path) -> None:
    clock = Hours()
    sessions = opened(tmp_path, clock=clock)
    value = sessions.issue(READER)
    clock.now = NOON + 12 * 3600 - 1
    assert sessions.find_in(carrying(value)) == READER
    clock.now = NOON + 12 * 3600
    assert sessions.find_in(carrying(value)) is None


def test_it_ends_with_its_token(tmp_path: Path) -> None:
    value = opened(tmp_path).issue(READER)
    assert opened(tmp_path, OPERATOR).find_in(carrying(value)) is None


def test_no_changed_value_is_accepted(tmp_path: Path) -> None:
    sessions = opened(tmp_path)
    version, token, ends, sign = sessions.issue(READER).split(".")
    other = sessions.issue(OPERATOR).split(".")[1]
    later = str(int(ends) + 1)
    for value in (
        "", "v1", f"{version}.{token}.{later}.{sign}", f"{version}.{other}.{ends}.{sign}",
        f"v2.{token}.{ends}.{sign}", f"{version}.{token}.{ends}.{sign[::-1]}",
        f"{version}.{token}.{ends}.",
    ):  # fmt: skip
        assert sessions.find_in(carrying(value)) is None, value


def test_neither_the_token_nor_its_digest_is_in_the_cookie(tmp_path: Path) -> None:
    value = opened(tmp_path).issue(READER)
    assert "look" not in value
    assert READER.digest.hex()[:16] not in value


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    key = open_session_key(tmp_path / "home")
    assert open_session_key(tmp_path / "home") == key
    assert len(key) == 32
    kept = list((tmp_path / "home").iterdir())
    assert [path.name for path in kept] == ["session.key"]
    assert stat.S_IMODE(kept[0].stat().st_mode) == 0o600


def test_a_damaged_key_is_replaced_and_opens_nothing(tmp_path: Path) -> None:
    before = opened(tmp_path).issue(READER)
    (tmp_path / KEY_FILE).write_bytes(b"")
    sessions = opened(tmp_path)
    assert sessions.find_in(carrying(before)) is None
    assert sessions.find_in(carrying(sessions.issue(READER))) == READER
    assert len(open_session_key(tmp_path)) == KEY_BYTES
