"""Platform profiles: the addresses, allow-lists and rates of one platform, as data.

`public` holds the real hosts, `sandbox` the sandbox on loopback. Brand names of the platform and
of the chart are in `profiles/*.toml` and nowhere else in the code. Which URLs are permitted is
decided in `http/link_gate.py`.
"""

import ipaddress
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pipelines.platform.parsers.links import LinkHosts, LinkTarget, find_target, host_matches
from pipelines.platform.profiles.patches import apply_patch, first_fault, read_patch
from warehouse.files import read_text
from warehouse.records import errors

_FOLDER = Path(__file__).parent
KNOWN_PROFILES = ("public", "sandbox")

_LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
Host = Annotated[str, StringConstraints(pattern=rf"^{_LABEL}(\.{_LABEL})+$", max_length=253)]
HostRule = Annotated[str, StringConstraints(pattern=rf"^\.?{_LABEL}(\.{_LABEL})+$", max_length=253)]
"""A host, or with a leading dot a domain and everything below it."""
UrlPath = Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9/_{}.-]*$")]


class ProfilePart(BaseModel):
    """A part of a file of the profile: no unknown key."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class ProfileHosts(ProfilePart):
    """Hosts of our own requests. `plain` hosts are requested by http even if the rest is https.

    `music_service` serves the public pages of songs; without it nothing is read there.
    """

    web: Host
    share: Host
    short: tuple[Host, ...]
    chart: Host
    chart_mobile: Host
    chart_web: Host
    chart_old: Host
    plain: tuple[Host, ...] = ()
    music_service: Host | None = None
    music_service_short: tuple[Host, ...] = ()


class LinkRules(ProfilePart):
    """Hosts of links that users may paste, and of permitted redirects."""

    share: tuple[HostRule, ...]
    redirect: tuple[HostRule, ...]
    region: tuple[HostRule, ...] = ()
    chart: tuple[HostRule, ...]


class MediaHosts(ProfilePart):
    """Hosts that sound may be read from, redirects included."""

    hosts: tuple[HostRule, ...]


class PictureHosts(ProfilePart):
    """Hosts that covers and avatars may be read from, redirects included.

    Without a host no picture is read.
    """

    hosts: tuple[HostRule, ...] = ()


class BrowserHosts(ProfilePart):
    """Hosts that a page in a browser may load from, in addition to permitted redirects."""

    hosts: tuple[HostRule, ...] = ()


class SurfaceSwitches(ProfilePart):
    """Surfaces that are not requested, although the profile has an address for them."""

    off: tuple[str, ...] = ()


class SurfacePaths(ProfilePart):
    """Paths of the surfaces. The names of the fields are the names of the surfaces."""

    video_page: UrlPath
    note_page: UrlPath
    slides_page: UrlPath
    slides_info: UrlPath
    # Dead for direct requests since 2023; scripts of pages still ask it in the browser.
    item_info: UrlPath = "/web/api/v2/aweme/iteminfo/"
    user_info: UrlPath
    user_posts: UrlPath
    user_page: UrlPath
    music_info: UrlPath
    music_list: UrlPath
    # Paths with a default came after the first profiles, which do not name them.
    user_by_handle: UrlPath = "/web/api/v2/user/info/"
    trends_list: UrlPath = "/aweme/v1/trends/aweme/"
    music_page: UrlPath
    hashtag_info: UrlPath
    hashtag_list: UrlPath
    hashtag_page: UrlPath
    search_page: UrlPath
    search_stream: UrlPath
    search_single: UrlPath
    web_video_page: UrlPath
    web_detail: UrlPath
    public_video: UrlPath
    public_music: UrlPath
    public_user: UrlPath
    chart_issues: UrlPath
    chart_songs: UrlPath
    chart_latest: UrlPath
    chart_html: UrlPath
    chart_html_old: UrlPath
    service_track: UrlPath = "/share/track"
    service_playlist: UrlPath = "/share/playlist"
    service_album: UrlPath = "/share/album"
    service_artist: UrlPath = "/share/artist"


_HOST_OF: Mapping[str, str] = {
    "search_page": "web",
    "search_stream": "web",
    "search_single": "web",
    "web_video_page": "web",
    "web_detail": "web",
    "public_video": "web",
    "public_music": "web",
    "public_user": "web",
    "chart_issues": "chart",
    "chart_songs": "chart",
    "chart_latest": "chart_mobile",
    "chart_html": "chart_web",
    "chart_html_old": "chart_old",
    "service_track": "music_service",
    "service_playlist": "music_service",
    "service_album": "music_service",
    "service_artist": "music_service",
}
"""Field of `ProfileHosts` that serves a surface; all other surfaces are on the share host."""


class ChartProfile(ProfilePart):
    """Which chart is read: its id, and the client version that its song list requires."""

    rank_id: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,12}$")]
    song_version: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,12}$")]


class HostRate(ProfilePart):
    """Rate limit of one host for all processes together; `parallel` is per process."""

    per_second: float = Field(gt=0)
    burst: int = Field(ge=1)
    parallel: int = Field(ge=1, le=64)


class CircuitTimes(ProfilePart):
    """Times of the circuit breaker, in seconds.

    `open_s` is the first open period, `longest_s` the limit after many failed probes, `probe_s` how
    long a probe may take.
    """

    open_s: float = Field(60.0, gt=0)
    longest_s: float = Field(3600.0, gt=0)
    probe_s: float = Field(90.0, gt=0)


class ProfileMarkers(ProfilePart):
    """Markers in pages and redirects without data that show the reason.

    `signature_text` is in the text of the gateway that blocks unsigned requests. `shell_body` is in
    pages whose own script loads the data. `chart_denied` and `chart_unknown` are texts that the
    chart sends instead of a document.
    """

    verification_title: tuple[str, ...]
    verification_body: tuple[str, ...]
    verification_path: str
    forbidden_title: tuple[str, ...]
    gone_query: str
    signature_text: tuple[str, ...] = ()
    shell_body: tuple[str, ...] = ()
    chart_denied: tuple[str, ...]
    chart_unknown: tuple[str, ...]


class PlatformProfile(ProfilePart):
    """One platform. `name` is also the name of the world that its data is stored under."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
    scheme: Literal["http", "https"]
    is_demo: bool
    use_sandbox_port: bool = False
    hosts: ProfileHosts
    links: LinkRules
    media: MediaHosts
    pictures: PictureHosts = PictureHosts()
    browser: BrowserHosts = BrowserHosts()
    paths: SurfacePaths
    surfaces: SurfaceSwitches = SurfaceSwitches()
    pins: dict[HostRule, ipaddress.IPv4Address | ipaddress.IPv6Address] = {}
    chart: ChartProfile
    rate: HostRate
    chart_rate: HostRate
    circuit: CircuitTimes = CircuitTimes()
    markers: ProfileMarkers
    port: int = Field(443, ge=1, le=65535)

    @property
    def may_name_loopback(self) -> bool:
        """True for the sandbox alone, which runs on this machine."""
        return self.name == "sandbox"

    def surface_names(self) -> frozenset[str]:
        """Return the names of all surfaces that can be requested."""
        return frozenset({*SurfacePaths.model_fields, "short_link", "media", "picture"})

    def for_chart(self) -> "PlatformProfile":
        """Return the profile for a client that reads only the chart, at the chart's own rate."""
        return self.model_copy(update={"rate": self.chart_rate})

    def host_of(self, surface: str) -> str:
        """Return the host that serves a surface.

        Raises:
            ProviderUnsupportedError: The profile names no host for it.
        """
        host: str | None = getattr(self.hosts, _HOST_OF.get(surface, "share"))
        if host is None:
            raise errors.ProviderUnsupportedError(
                f"the profile {self.name!r} names no host for {surface}",
                hint="set music_service under [hosts] of the profile",
            )
        return host

    def address(self, surface: str, **ids: str) -> str:
        """Return the URL of a surface, such as `https://…/share/video/7348…/`.

        `ids` fill in its path, quoted.
        """
        host = self.host_of(surface)
        scheme, port = self.scheme_and_port(host)
        # A standard port is left out, as the platform's own links do.
        suffix = "" if port == {"http": 80, "https": 443}[scheme] else f":{port}"
        path: str = getattr(self.paths, surface)
        filled = path.format(**{name: quote(value, safe="") for name, value in ids.items()})
        return f"{scheme}://{host}{suffix}{filled}"

    def video_link(self, aweme_id: str) -> str:
        """Return the link of a video for users, on the desktop host."""
        return self.address("public_video", aweme_id=aweme_id)

    def scheme_and_port(self, host: str) -> tuple[Literal["http", "https"], int]:
        """Return the scheme and the port of a host."""
        # The profile's port is that of its scheme; a host of the other scheme uses the usual one.
        is_plain = host in self.hosts.plain and self.scheme != "http"
        return ("http", 80) if is_plain else (self.scheme, self.port)

    @property
    def link_hosts(self) -> LinkHosts:
        """Return the hosts that `find_target` needs."""
        return LinkHosts(
            scheme=self.scheme,
            share=self.links.share,
            short=self.hosts.short,
            gone_query=self.markers.gone_query,
            service=(self.hosts.music_service,) if self.hosts.music_service else (),
            service_short=self.hosts.music_service_short,
            chart=self.links.chart,
        )

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first platform link in a text; None when there is none."""
        return find_target(text, self.link_hosts)

    def is_service_short_link(self, url: str) -> bool:
        """Return True for a short link of the music service."""
        return host_matches(urlsplit(url).hostname or "", self.hosts.music_service_short)

    def song_link(self, track_id: str) -> str:
        """Return the link of a song of the music service.

        Raises:
            ProviderUnsupportedError: The profile names no music service.
        """
        return f"{self.address('service_track')}?track_id={track_id}"


def load_profile(
    name_or_path: str | Path | None, *, sandbox_port: int, patch: Path | None = None
) -> PlatformProfile:
    """Load a profile by name (`public`, `sandbox`) or from the operator's own file.

    `patch` is a file of reviewed additions; see `patches.py`.

    Raises:
        ProfileNotChosenError: No profile is chosen, so nothing may be contacted.
        InvalidParameterError: There is no such profile, or the file is not a valid one.
    """
    if name_or_path is None or not str(name_or_path).strip():
        raise errors.ProfileNotChosenError(
            "no platform profile is chosen, so nothing may be contacted",
            hint="set PROFILE=sandbox for the sandbox, or PROFILE=public",
        )
    path = (
        _FOLDER / f"{name_or_path}.toml" if name_or_path in KNOWN_PROFILES else Path(name_or_path)
    )
    hint = f"known profiles are {', '.join(KNOWN_PROFILES)}; or name a TOML file"
    text = read_text(path, what=f"the profile {path.name!r}", hint=hint)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise errors.InvalidParameterError(
            f"the profile {path.name!r} is not TOML: {exc}", hint=hint
        ) from exc
    if document.get("use_sandbox_port"):
        document["port"] = sandbox_port
    try:
        profile = PlatformProfile.model_validate(document)
    except ValidationError as exc:
        raise errors.InvalidParameterError(
            f"the profile {path.name!r} is not valid at {first_fault(exc)}"
        ) from exc
    # A pin replaces the name lookup and its check, so it must not lead into this network.
    for host, address in profile.pins.items():
        allowed = address.is_global or (profile.may_name_loopback and address.is_loopback)
        if not allowed or address.is_multicast:
            raise errors.InvalidParameterError(
                f"the profile {path.name!r} pins {host!r} to {address}, which is not a public "
                "address",
                hint="only the sandbox profile may name loopback",
            )
    return profile if patch is None else apply_patch(profile, read_patch(patch))
