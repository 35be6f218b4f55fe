"""The optional token."""

import pytest

from api.server.middleware.auth import TokenCheck

CHECK = TokenCheck("sesam-öffne-dich")
TOKEN = "sesam-öffne-dich".encode()


def accepts(*raw: tuple[bytes, bytes]) -> bool:
    return CHECK.accepts(raw)


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", b"Bearer " + TOKEN),
        (b"authorization", b"bearer " + TOKEN),
        (b"x-api-key", TOKEN),
    ],
)
def test_either_header_opens(header: tuple[bytes, bytes]) -> None:
    assert accepts(header)


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
        (b"cookie", TOKEN),
    ],
)
def test_nothing_else_opens(header: tuple[bytes, bytes]) -> None:
    assert not accepts(header)


def test_no_header_does_not_open() -> None:
    assert not accepts()


def test_one_valid_header_beside_a_wrong_one_opens() -> None:
    assert accepts((b"authorization", b"Bearer wrong"), (b"x-api-key", TOKEN))


def test_the_token_itself_is_not_kept() -> None:
    assert TOKEN.decode() not in repr(vars(CHECK))
