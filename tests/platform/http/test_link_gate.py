"""The link gate lets through what the profile names, and nothing that only looks like it."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.platform.http.link_gate import (
    MAX_REDIRECTS,
    CheckedAddress,
    Dialler,
    check_address,
    is_public,
    join_address,
    look_up,
    read_address,
)
from pipelines.platform.parsers.links import host_matches
from pipelines.platform.profiles import PlatformProfile, load_profile
from warehouse.records.errors import SubstitutionError, UnreachableError

HOST = "www.vidplat.localhost"
OPEN_HOST = "media.example.com"
FIRST, SECOND = "93.184.215.14", "93.184.215.15"


def _open_profile() -> PlatformProfile:
    """The sandbox's profile with an https host and no pins, as a public platform has them."""
    document = load_profile("sandbox", sandbox_port=8790).model_dump()
    return PlatformProfile.model_validate(
        {**document, "name": "elsewhere", "scheme": "https", "pins": {}, "port": 443}
    )


def test_permitted_address_keeps_its_path_and_query(profile: PlatformProfile) -> None:
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
def test_hostile_address_is_refused(hostile: str, profile: PlatformProfile) -> None:
    with pytest.raises(SubstitutionError):
        check_address(hostile, allowed=(HOST,), profile=profile, surface="x")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("no address", None),
        ("http://evil.example/", "foreign_host"),
        (f"http://{HOST}:22/", "odd_port"),
        (f"https://{HOST}:80/", "odd_port"),
        (f"https://{HOST}:8790/", "odd_scheme"),
        (f"https://{HOST}/", "odd_scheme"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(
    address: str, reason: str | None, profile: PlatformProfile
) -> None:
    with pytest.raises(SubstitutionError) as caught:
        check_address(address, allowed=(HOST,), profile=profile, surface="music_page")
    assert (caught.value.surface, caught.value.reason) == ("music_page", reason)


@pytest.mark.parametrize("given_port", ["", ":80", ":8790"])
def test_a_standard_or_missing_port_means_the_hosts_own(
    given_port: str, profile: PlatformProfile
) -> None:
    address = check_address(
        f"http://{HOST}{given_port}/x", allowed=(HOST,), profile=profile, surface="x"
    )
    assert address == CheckedAddress("http", HOST, 8790, "/x")


def test_the_standard_port_of_either_scheme_is_raised_with_it() -> None:
    for text in (
        f"http://{OPEN_HOST}:80/x",
        f"https://{OPEN_HOST}:443/x",
        f"https://{OPEN_HOST}/x",
    ):
        address = check_address(text, allowed=(OPEN_HOST,), profile=_open_profile(), surface="x")
        assert address == CheckedAddress("https", OPEN_HOST, 443, "/x")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("http://a.example", CheckedAddress("http", "a.example", 80, "/")),
        ("HTTPS://A.Example", CheckedAddress("https", "a.example", 443, "/")),
        ("https://a.example?q=1", CheckedAddress("https", "a.example", 443, "/?q=1")),
        ("https://a.example/p/Q?r=S#part", CheckedAddress("https", "a.example", 443, "/p/Q?r=S")),
        ("https://a-b.c1.example:8443/~x!$&'()*+,;=:@%20", CheckedAddress(
            "https", "a-b.c1.example", 8443, "/~x!$&'()*+,;=:@%20"
        )),
    ],
)  # fmt: skip
def test_a_plain_address_is_read_in_its_parts(text: str, read: CheckedAddress) -> None:
    assert read_address(text) == read


@pytest.mark.parametrize(
    "odd",
    [
        "http://-a.example/", "http://a-.example/", "http://a..example/", "http://a.example./",
        "http://a.123/", "http://a.0x/", "http://a.0x7f/", "http://a.example:123456/",
        'http://a.example/"', "http://a.example/<", "http://a.example/#ü", "http:/a.example/",
        "http://a_b.example/", "ftp://a.example/", "http://" + "a" * 254 + "/",
    ],
)  # fmt: skip
def test_link_gate_does_not_read_ambiguous_addresses(odd: str) -> None:
    assert read_address(odd) is None


@pytest.mark.parametrize("host", ["1.example", "0x7f.example", "a.x0", "a.b1", "a"])
def test_only_the_last_label_makes_a_number_of_a_name(host: str) -> None:
    address = read_address(f"http://{host}/")
    assert address is not None
    assert address.host == host


def test_an_address_is_read_up_to_four_thousand_and_96_characters() -> None:
    longest = "http://a.example/".ljust(4096, "x")
    assert read_address(longest) is not None
    assert read_address(longest + "x") is None


@pytest.mark.parametrize(
    ("address", "url", "path"),
    [
        (CheckedAddress("http", "a.example", 80, "/x?y=1?z"), "http://a.example/x?y=1?z", "/x"),
        (CheckedAddress("https", "a.example", 443, "/"), "https://a.example/", "/"),
        (CheckedAddress("http", "a.example", 443, "/"), "http://a.example:443/", "/"),
        (CheckedAddress("https", "a.example", 80, "/"), "https://a.example:80/", "/"),
    ],
)
def test_only_an_unusual_port_is_named(address: CheckedAddress, url: str, path: str) -> None:
    assert (address.url, address.path) == (url, path)


def test_five_steps_are_followed_as_the_platform_was_seen_to_need_at_most() -> None:
    assert MAX_REDIRECTS == 5


def test_a_redirect_is_joined_to_where_it_was_met() -> None:
    assert join_address("http://a.example/b/c", "../d", surface="x") == "http://a.example/d"
    assert join_address("http://a.example/b", "//c.example/", surface="x") == "http://c.example/"
    with pytest.raises(SubstitutionError) as caught:
        join_address("http://a.example/", "http://[half/", surface="music_page")
    assert caught.value.surface == "music_page"


@pytest.mark.parametrize("numeric", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "1.2.3.0x4"])
def test_ip_literal_is_refused_even_when_a_rule_names_it(
    numeric: str, profile: PlatformProfile
) -> None:
    with pytest.raises(SubstitutionError):
        check_address(f"http://{numeric}/", allowed=(numeric,), profile=profile, surface="x")


@given(st.text(max_size=60))
def test_host_of_every_read_address_is_plain(text: str) -> None:
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
        ("cdn.example", "cdn.example", True),
        ("xcdn.example", "cdn.example", False),
        ("cdn.example", "", False),
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
        # what leads to this site or a tunnel, although the library takes some of it for global
        "192.0.0.8", "192.0.0.9", "192.88.99.1", "fec0::1", "64:ff9b:1::808:808", "2002:808:808::1",
        "::808:808", "64:ff9b::a00:1", "ff0e::1", "232.1.2.3",
        "::ffff:192.0.0.9", "::ffff:232.1.2.3",
        # translated addresses, segment routing, documentation: reserved after some Pythons
        "::ffff:0:8.8.8.8", "::ffff:0:7f00:1", "5f00::1", "5f00:ffff::1", "3fff::1", "3fff:fff::1",
    ],
)  # fmt: skip
def test_special_addresses_are_not_public(special: str) -> None:
    assert is_public(ipaddress.ip_address(special)) is False


@pytest.mark.parametrize(
    "public",
    [
        FIRST, "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:8.8.8.8", "64:ff9b::808:808",
        "192.0.1.1", "192.88.98.1", "2a00::1",
    ],
)  # fmt: skip
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


class FakeNames:
    """A resolver whose answers a test changes, and a clock that it moves."""

    def __init__(self, *found: str) -> None:
        self.found = list(found)
        self.asked: list[tuple[str, int]] = []
        self.now = 0.0
        self.dialler = Dialler(_open_profile(), resolve=self.resolve, clock=lambda: self.now)

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append((host, port))
        return self.found

    async def dial(self, host: str = OPEN_HOST) -> str:
        return await self.dialler.dial_address(host, surface="music_page")


async def test_a_checked_address_is_dialled_for_five_minutes_and_no_longer() -> None:
    names = FakeNames(FIRST)
    assert await names.dial() == FIRST
    names.found = [SECOND]
    names.now = 299.9
    assert await names.dial() == FIRST
    names.now = 300.0
    assert await names.dial() == SECOND
    names.found = [FIRST]
    names.now = 599.9
    assert await names.dial() == SECOND
    assert names.asked == [(OPEN_HOST, 443)] * 2


async def test_a_name_that_leads_inside_after_its_lifetime_is_refused() -> None:
    names = FakeNames(FIRST)
    await names.dial()
    names.found = ["127.0.0.1"]
    names.now = 301.0
    for _ in range(2):  # a refused answer is never kept
        with pytest.raises(SubstitutionError) as caught:
            await names.dial()
        assert (caught.value.surface, caught.value.reason) == ("music_page", "special_address")


async def test_each_name_has_an_address_of_its_own() -> None:
    names = FakeNames(FIRST)
    await names.dial()
    names.found = [SECOND]
    assert await names.dial("other.example.com") == SECOND
    assert await names.dial() == FIRST


async def test_the_first_of_several_public_addresses_is_dialled() -> None:
    assert await FakeNames(SECOND, FIRST, "2606:2800:21f:cb07:6820:80da:af6b:8b2c").dial() == SECOND


async def test_an_address_with_a_zone_is_checked_without_it() -> None:
    with pytest.raises(SubstitutionError):
        await FakeNames(FIRST, "fe80::1%eth0").dial()
    zoned = "2606:2800:21f:cb07:6820:80da:af6b:8b2c%eth0"
    assert await FakeNames(zoned).dial() == zoned


async def test_name_without_an_address_is_unreachable() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        raise OSError("no such name")

    for failing in (resolve, FakeNames().resolve):
        dialler = Dialler(_open_profile(), resolve=failing)
        with pytest.raises(UnreachableError, match=OPEN_HOST) as caught:
            await dialler.dial_address(OPEN_HOST, surface="music_page")
        assert caught.value.surface == "music_page"


async def test_the_systems_resolver_gives_addresses_alone() -> None:
    assert await look_up("127.0.0.1", 443) == ["127.0.0.1"]


async def test_the_first_pin_that_fits_a_name_counts() -> None:
    pins = {".example.com": FIRST, OPEN_HOST: SECOND, "other.example": SECOND}
    dialler = Dialler(
        PlatformProfile.model_validate({**_open_profile().model_dump(), "pins": pins})
    )
    assert await dialler.dial_address(OPEN_HOST, surface="x") == FIRST
    assert await dialler.dial_address("other.example", surface="x") == SECOND


async def test_sandbox_names_are_pinned_to_loopback(profile: PlatformProfile) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        raise AssertionError("nothing is looked up")

    dialler = Dialler(profile, resolve=resolve)
    assert await dialler.dial_address(HOST, surface="x") == "127.0.0.1"
