"""Switches: lasting differences of the sandbox from a generous platform, by name.

What belongs here: the one table of switches, the modes that combine them, and which are on. A
switch with a `kind` puts its surfaces into that state (`faults.py`) for as long as it is on; one
with a `form` rewrites the finished responses of its surfaces (`surface_states.py`); the surfaces read the
others themselves.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sandbox.server.faults import Fault, FaultKind

VIDEO_PAGES = ("video_page", "note_page", "slides_page")
_SEARCH = ("search_stream", "search_single")
PAGED = ("music_list", "trends_list", "hashtag_list", "user_posts", *_SEARCH)
"""Surfaces whose pages have a cursor."""
MAX_EMPTY_PAGES = 8
_PAGES = (
    *VIDEO_PAGES, "user_page", "music_page", "hashtag_page", "trends_page", "web_video_page",
    "web_user_page", "web_music_page", "web_hashtag_page", "web_start_page", "search_page",
)  # fmt: skip
OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One switch.

    Attributes:
        name: Its name.
        effect: What it does, as a sentence.
        surfaces: The surfaces that it affects; set by `NAME=surface+surface` where it has a kind.
        kind: State of these surfaces; None if the switch changes something else.
        form: Rewrite of their finished responses; None likewise.
        share: Share of the entities that it affects, set by `NAME=0.5`; None if it affects all.
        count: Number of pages, set by `NAME=3`; None if it counts none.
    """

    name: str
    effect: str
    surfaces: tuple[str, ...] = ()
    kind: FaultKind | None = None
    form: str | None = None
    share: float | None = None
    count: int | None = None

    def with_value(self, value: str) -> "Switch":
        """Return the switch with a value: a share, a count, or surfaces joined by `+`.

        Raises:
            ValueError: The switch takes no value, or not this one.
        """
        if self.share is not None:
            share = float(value)
            if not 0 <= share <= 1:
                raise ValueError(f"the share of {self.name} must be 0 to 1, not {value}")
            return replace(self, share=share)
        if self.count is not None:
            count = int(value)
            if not 1 <= count <= MAX_EMPTY_PAGES:
                raise ValueError(
                    f"the count of {self.name} must be 1 to {MAX_EMPTY_PAGES}, not {value}"
                )
            return replace(self, count=count)
        if self.kind is None:
            raise ValueError(f"the switch {self.name} takes no value")
        return replace(self, surfaces=tuple(value.split("+")))


def _state(name: str, effect: str, kind: FaultKind, *surfaces: str) -> Switch:
    return Switch(name=name, effect=effect, kind=kind, surfaces=surfaces)


def _form(name: str, effect: str, *surfaces: str) -> Switch:
    return Switch(name=name, effect=effect, form=name, surfaces=surfaces)


# fmt: off
# ruff: noqa: E501  # one row per line reads as a table
SWITCHES: tuple[Switch, ...] = (
    # Pages and details of videos.
    Switch(name="page_shells", share=0.95, effect="Share pages and desktop pages of videos come without data, for this share of the videos."),
    _state("page_challenge", "Share pages of videos are a script challenge.", "challenge", *VIDEO_PAGES),
    _state("page_403", "Share pages of videos answer 403.", "403", *VIDEO_PAGES),
    _state("page_404", "Share pages of videos answer 404.", "404", *VIDEO_PAGES),
    _state("page_no_container", "Share pages of videos have no data container.", "no_container", *VIDEO_PAGES),
    _state("argus_page", "Share pages of videos are the obfuscated script (`_$jsvmprt`) and nothing else.", "argus", *VIDEO_PAGES),
    _form("page_client_side", "Share pages have no data: their own script loads it, that of a video with a token.", *VIDEO_PAGES, "user_page", "music_page", "hashtag_page"),
    _form("argus_csp_token", "Healthy pages carry the tag `argus-csp-token`, which proves nothing.", *_PAGES),
    _form("page_scripts_elsewhere", "Scripts and styles of pages are on other hosts; the profile lists that of the scripts only.", *_PAGES),
    _state("web_detail_403", "The detail JSON of the web host answers 403.", "403", "web_detail"),
    # Lists.
    Switch(name="list_bare", effect="Rows of a music list have no author, date and bookmarks, not even empty keys."),
    Switch(name="list_foreign_rows", share=1 / 7, effect="In this share of the music lists, 19 rows of 20 use another music id; every row names its own."),
    Switch(name="list_photos_without_images", effect="Photo posts in lists have `images: null`, `aweme_type` 2 and no length."),
    Switch(name="empty_pages", count=3, effect="After the first page of each list and search, so many pages are empty, claim more and move the cursor."),
    Switch(name="no_user_posts", effect="`user_posts` answers with an empty body, and pages of accounts have no list."),
    _state("status_code_8", "`status_code` 8 asks for a login, by default in `user_posts`.", "status_code_8", "user_posts"),
    _state("captcha_json", "JSON surfaces demand a captcha, by default `hashtag_list`.", "captcha_json", "hashtag_list"),
    _state("code_10001010A", "JSON surfaces answer `10001010A` (too often), by default `user_info`.", "code_10001010A", "user_info"),
    # Accounts and sounds.
    Switch(name="mplatform_followers_only", effect="`user_info` has `mplatform_followers_count` in place of `follower_count`."),
    Switch(name="sec_uid_missing", effect="`user_info` has no `sec_uid`."),
    Switch(name="sound_title_names_song", effect="Titles of user sounds name the song: `（原声中的歌曲：Song-Artist）`."),
    Switch(name="song_ids_missing", effect="Music ids do not name their song on the music service: only its title and artist lead to it."),
    # Search.
    _state("search_2483", "The search asks for a login (`status_code` 2483).", "login_2483", *_SEARCH),
    _state("search_hit_shark", "The search is empty because of `hit_shark`.", "hit_shark", *_SEARCH),
    _state("search_antispam_check", "The search is empty because of `antispam_check`.", "antispam_check", *_SEARCH),
    _state("search_params_check", "The search is empty because of `params_check`.", "params_check", *_SEARCH),
    _state("search_invalid_app", "The search is empty because of `invalid_app`.", "invalid_app", *_SEARCH),
    _form("search_stream_unended", "The search stream lacks its end mark.", "search_stream"),
    _form("search_stream_cut", "The search stream ends within its last document.", "search_stream"),
    _form("search_stream_glued", "The search stream is JSON documents without anything between them.", "search_stream"),
    _form("search_stream_lines", "The search stream is one JSON document per line.", "search_stream"),
    # Media.
    Switch(name="media_other_host", effect="Media are on a second host, and lists name their addresses."),
    Switch(name="media_needs_referer", effect="Media answer 403 unless the Referer is a page of the platform."),
    Switch(name="media_altered", effect="Media come with another first byte of their file type box."),
    # The chart.
    _state("chart_1002", "The chart answers `errcode` 1002 (too often).", "chart_1002", "chart_issues", "chart_songs"),
    Switch(name="chart_late", effect="Issues are dated 08:30 and released up to 10:00, at their `scheduled_release_time`."),
)
# fmt: on
MODES: dict[str, tuple[str, ...]] = {
    "generous": (),
    "autumn-2026": (
        "page_shells",
        "page_client_side",
        "web_detail_403",
        "search_2483",
        "no_user_posts",
        "mplatform_followers_only",
        "list_bare",
        "list_foreign_rows",
        "media_other_host",
        "chart_late",
    ),
}  # fmt: skip
"""`autumn-2026` is what the platform is believed to be today, `generous` the sandbox by default."""
_BY_NAME = {switch.name: switch for switch in SWITCHES}


class ActiveSwitches:
    """The switches that are on.

    Args:
        chosen: As for `set`.
    """

    def __init__(self, chosen: Iterable[str] = ()) -> None:
        self._on: dict[str, Switch] = {}
        for text in chosen:
            self.set(text)

    def set(self, text: str) -> None:
        """Turn a switch on or off: `NAME`, `NAME=VALUE` or `NAME=off`.

        Raises:
            ValueError: There is no such switch, or the value is none of its values.
        """
        name, _, value = text.partition("=")
        switch = _BY_NAME.get(name)
        if switch is None:
            raise ValueError(f"unknown switch {name!r}; known are {', '.join(_BY_NAME)}")
        if value == OFF:
            self._on.pop(name, None)
        else:
            self._on[name] = switch.with_value(value) if value else switch

    def clear(self) -> None:
        """Turn all off."""
        self._on.clear()

    def is_on(self, name: str) -> bool:
        """Return True for a switch that is on.

        Raises:
            KeyError: There is no such switch.
        """
        return _BY_NAME[name].name in self._on

    def share(self, name: str) -> float:
        """Return the share of a switch, 0 while it is off."""
        switch = self._on.get(_BY_NAME[name].name)
        return 0.0 if switch is None else switch.share or 0.0

    def count(self, name: str) -> int:
        """Return the count of a switch, 0 while it is off."""
        switch = self._on.get(_BY_NAME[name].name)
        return 0 if switch is None else switch.count or 0

    def state_of(self, surface: str) -> Fault | None:
        """Return the lasting state of a surface; that of the first switch in the table."""
        for switch in SWITCHES:
            active = self._on.get(switch.name)
            if active is not None and active.kind is not None and surface in active.surfaces:
                return Fault(surface=surface, kind=active.kind, times=0)
        return None

    def forms_of(self, surface: str) -> list[str]:
        """Return the rewrites of a surface's finished responses, in the order of the table."""
        on = [switch for switch in SWITCHES if switch.name in self._on]
        return [switch.form for switch in on if switch.form and surface in switch.surfaces]

    def to_document(self) -> dict[str, object]:
        """Return the switches that are on, with their values, and all names."""
        on = {name: self._on[name] for name in _BY_NAME if name in self._on}
        return {
            "on": {
                name: switch.count or switch.share
                if switch.count is not None or switch.share is not None
                else list(switch.surfaces)
                for name, switch in on.items()
            },
            "known": list(_BY_NAME), "modes": list(MODES),
        }  # fmt: skip


def switches_of(mode: str, chosen: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the switches of a mode and further ones.

    Raises:
        ValueError: There is no such mode or switch.
    """
    if mode not in MODES:
        raise ValueError(f"unknown mode {mode!r}; known are {', '.join(MODES)}")
    every = (*MODES[mode], *chosen)
    ActiveSwitches(every)
    return every


def switch_help() -> str:
    """Return the table of switches as plain text, for the command line."""
    rows = [f"  {switch.name}{value_hint(switch)}: {switch.effect}" for switch in SWITCHES]
    modes = [f"  {name}: {', '.join(held) or 'no switch'}" for name, held in MODES.items()]
    return "\n".join(("Switches:", *rows, "Modes:", *modes))


def value_hint(switch: Switch) -> str:
    """Return the share or count of a switch by default, in parentheses; empty if it has none."""
    value = switch.share if switch.count is None else switch.count
    return f" ({value:.3g})" if value is not None else ""
