"""The link gate lets through what the profile names, and nothing that only looks like it."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.domain.errors import SubstitutionError, UnreachableError
from pipelines.upstream.gate import Dialler, check_address, is_public, read_address
from pipelines.upstream.hosts import host_matches
from pipelines.upstream.profiles import Profile, load_profile

HOST = "www.vidplat.localhost"
OPEN_HOST = "media.example.com"


def _open_profile() -> Profile:
    """The sandbox's profile with an https host and no pins, as a public platform has them."""
    document = load_profile("sandbox", sandbox_port=8790).model_dump()
    return Profile.model_validate(
        {**document, "name": "elsewhere", "scheme": "https", "pins": {}, "port": 443}
    )


def test_permitted_address_keeps_its_path_and_query(profile: Profile) -> None:
    address = check_address(
        f"http://{HOST}/a/b?c=[1]&d=%20#part", allowed=(HOST,), profile=profile, surface="x"
    )
    assert address.url == f"http://{HOST}:8790/a/b?c=[1]&d=%20"


def test_plain_http_is_raised_to_https_where_the_profile_speaks_it() -> None:
    address = check_address(
        f"http://{OPEN_HOST}/x", allowed=(OPEN_HOST,), profile=_open_profile(), surface="x"
    )
    assert address.url == f"https://{OPEN_HOST}/x"


@pytest.mark.parametrize(
    "hostile",
    [
        "http://evil.example/",
        f"http://{HOST}.evil.example/",
        f"http://evil-{HOST}/",
        f"http://evil.example/{HOST}",
        f"http://{HOST}@evil.example/",
        f"http://user:secret@{HOST}/",
        f"http://{HOST}:22/",
        f"http://{HOST}:/",
        f"http://{HOST}:99999999/",
        f"http://{HOST}\\@evil.example/",
        f"http://{HOST}\t/",
        f"http://{HOST}\n/",
        f"http://{HOST}/\x00",
        f"http://{HOST}/a b",
        f" http://{HOST}/",
        f"http://{HOST}./",
        f"http://.{HOST}/",
        f"http://{HOST}%2eevil.example/",
        f"//{HOST}/",
        f"{HOST}/",
        f"ftp://{HOST}/",
        f"file:///{HOST}",
        "javascript:alert(1)",
        f"https://{HOST}/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://ｗｗｗ.vidplat.localhost/",
        "http://www.vidplat.localhost。evil.example/",
        "http://wwẉ.vidplat.localhost/",
        "",
        f"http://{HOST}/" + "a" * 5000,
    ],
)
def test_hostile_address_is_refused(hostile: str, profile: Profile) -> None:
    with pytest.raises(SubstitutionError):
        check_address(hostile, allowed=(HOST,), profile=profile, surface="x")


@pytest.mark.parametrize("numeric", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "1.2.3.0x4"])
def test_ip_literal_is_refused_even_when_a_rule_names_it(numeric: str, profile: Profile) -> None:
    with pytest.raises(SubstitutionError):
        check_address(f"http://{numeric}/", allowed=(numeric,), profile=profile, surface="x")


@given(st.text(max_size=60))
def test_whatever_is_read_has_a_plain_host(text: str) -> None:
    address = read_address(f"http://{text}")
    assert address is None or (
        address.host.isascii() and address.host.replace(".", "").replace("-", "").isalnum()
    )


@pytest.mark.parametrize(
    ("host", "rule", "matches"),
    [
        ("a.cdn.example", ".cdn.example", True),
        ("cdn.example", ".cdn.example", True),
        ("evilcdn.example", ".cdn.example", False),
        ("a.cdn.example", "cdn.example", False),
        ("cdn.example.evil", ".cdn.example", False),
    ],
)
def test_host_rules_end_on_label_boundaries(host: str, rule: str, matches: bool) -> None:
    assert host_matches(host, (rule,)) is matches


@pytest.mark.parametrize(
    "special",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1",
        "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1",
    ],
)  # fmt: skip
def test_special_addresses_are_not_public(special: str) -> None:
    assert not is_public(ipaddress.ip_address(special))


@pytest.mark.parametrize("public", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_ordinary_addresses_are_public(public: str) -> None:
    assert is_public(ipaddress.ip_address(public))


@pytest.mark.parametrize(
    "found", [["127.0.0.1"], ["169.254.169.254"], ["93.184.215.14", "10.0.0.5"], ["::1"]]
)
async def test_name_that_leads_inside_is_refused(found: list[str]) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return found

    with pytest.raises(SubstitutionError):
        await Dialler(_open_profile(), resolve=resolve).dial_address(OPEN_HOST, surface="x")


async def test_name_is_looked_up_once_and_dialled_as_checked() -> None:
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])

    async def resolve(_host: str, _port: int) -> list[str]:
        return next(answers)

    dialler = Dialler(_open_profile(), resolve=resolve)
    dialled = [await dialler.dial_address(OPEN_HOST, surface="x") for _ in range(3)]
    assert dialled == ["93.184.215.14"] * 3


async def test_name_without_an_address_is_unreachable() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(UnreachableError):
        await Dialler(_open_profile(), resolve=resolve).dial_address(OPEN_HOST, surface="x")


async def test_sandbox_names_are_pinned_to_loopback(profile: Profile) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        raise AssertionError("nothing is looked up")

    dialler = Dialler(profile, resolve=resolve)
    assert await dialler.dial_address(HOST, surface="x") == "127.0.0.1"
