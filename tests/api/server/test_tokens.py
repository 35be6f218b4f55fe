"""Tokens: the one with all roles, and the file of digests."""

from hashlib import sha256
from pathlib import Path

import pytest

from api.server.access.roles import Role
from api.server.access.tokens import TokenFileError, TokenStore, holder_of, read_token_file
from api.settings import ApiSettings

TOKENS = TokenStore([holder_of("sesam-öffne-dich", Role.OPERATE), holder_of("look", Role.READ)])
TOKEN = "sesam-öffne-dich".encode()
DIGEST = sha256(b"look").hexdigest()


def role_of(*raw: tuple[bytes, bytes]) -> Role | None:
    found = TOKENS.find_in(raw)
    return None if found is None else found.role


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", b"Bearer " + TOKEN),
        (b"authorization", b"bearer " + TOKEN),
        (b"x-api-key", TOKEN),
    ],
)
def test_either_header_opens(header: tuple[bytes, bytes]) -> None:
    assert role_of(header) is Role.OPERATE


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", TOKEN),
        (b"authorization", b"Basic " + TOKEN),
        (b"authorization", b"Bearer"),
        (b"authorization", b"Bearer " + TOKEN[:-1]),
        (b"authorization", b"Bearer " + TOKEN.upper()),
        (b"x-api-key", b""),
        (b"x-api-key", b"Bearer " + TOKEN),
        (b"x-api-key", DIGEST.encode()),
        (b"cookie", TOKEN),
    ],
)
def test_malformed_authorization_header_has_no_role(header: tuple[bytes, bytes]) -> None:
    assert role_of(header) is None


def test_no_header_does_not_open() -> None:
    assert role_of() is None


def test_one_valid_header_beside_a_wrong_one_opens() -> None:
    assert role_of((b"authorization", b"Bearer wrong"), (b"x-api-key", TOKEN)) is Role.OPERATE


def test_of_two_valid_tokens_the_higher_role_counts() -> None:
    assert role_of((b"authorization", b"Bearer look"), (b"x-api-key", TOKEN)) is Role.OPERATE


def test_the_token_itself_is_not_kept() -> None:
    assert TOKEN.decode() not in repr(TOKENS.holders)


def test_a_file_gives_each_token_its_role(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# who may do what\nread {DIGEST}  # dashboards\n\nscan {DIGEST[::-1]}\n")
    assert [one.role for one in read_token_file(file)] == [Role.READ, Role.SCAN]


@pytest.mark.parametrize(
    "line", [f"admin {DIGEST}", "read", DIGEST, f"read {DIGEST[:-2]}", f"read {DIGEST} more",
             "read my-secret-token"],
)  # fmt: skip
def test_a_malformed_line_is_refused_without_being_repeated(tmp_path: Path, line: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"read {DIGEST}\n{line}\n")
    with pytest.raises(TokenFileError, match="line 2") as refused:
        read_token_file(file)
    assert line not in str(refused.value)


def test_a_file_without_a_token_or_without_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("# none yet\n")
    for name in ("tokens", "missing", "."):
        with pytest.raises(TokenFileError):
            read_token_file(tmp_path / name)


def test_both_settings_count_and_the_single_token_has_all_roles(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"read {DIGEST}\n")
    settings = ApiSettings(_env_file=None, own_api_token="all", own_api_tokens=file)
    tokens = TokenStore.of_settings(settings)
    assert [one.role for one in tokens.holders] == [Role.OPERATE, Role.READ]
    assert TokenStore.of_settings(ApiSettings(_env_file=None)).holders == ()


def test_blanks_around_the_single_token_do_not_count() -> None:
    settings = ApiSettings(_env_file=None, own_api_token=" look ")
    assert TokenStore.of_settings(settings).find_in([(b"x-api-key", b"look")]) is not None
    assert not ApiSettings(_env_file=None, own_api_token=" ").has_tokens
