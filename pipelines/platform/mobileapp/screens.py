"""Reads what a screen of the app shows: its accessibility tree, by its version's layout. Pure.

Counts are read as the app writes them: "1.2万" is rounded, and the count of a button without a
number is unknown.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from re import Pattern
from typing import Annotated, Literal, Self
from xml.etree import ElementTree as ET

import orjson
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from pipelines.platform import profiles
from pipelines.platform.parsers.fields import parse_count
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import KNOWN_PROFILES, HostRate, ProfilePart
from pipelines.platform.profiles.patches import first_fault
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import InvalidParameterError
from warehouse.records.videos import COUNTS, Author, Music, Statistics, Track, Video, VideoPage

# Screen layouts of app versions, as data: TOML files beside the platform profiles.
#
# Brand words of the app are in those files and nowhere else. A selector names a node of the
# accessibility tree.

_FOLDER = Path(profiles.__file__).parent
_SUFFIX = ".app.toml"


class Selector(ProfilePart):
    """Selects a node by its attributes. All fields that are set must match, patterns as a whole.

    `id` is the resource id without its package. The value of a node is the group `value` of the
    pattern that has such a group; else its text, or its description if the text is empty.
    """

    id: str | None = None
    kind: str | None = None
    text: Pattern[str] | None = None
    desc: Pattern[str] | None = None


class TrackLayout(ProfilePart):
    """The page of a track: `first` opens the first of its videos."""

    sign: Selector
    title: Selector
    author: Selector
    first: Selector


class VideoLayout(ProfilePart):
    """One video of a feed. `is_paused_by_tap`: while it plays, the tree cannot be read."""

    sign: Selector
    author: Selector
    caption: Selector
    digg: Selector
    comment: Selector
    collect: Selector
    share: Selector
    is_paused_by_tap: bool = False


class ShareLayout(ProfilePart):
    """The panel behind the share button: a text with the public link of the video."""

    sign: Selector
    link: Selector


class AccountLayout(ProfilePart):
    """The page of an account, opened from the author of a video: its public handle."""

    sign: Selector
    handle: Selector


class Prompts(ProfilePart):
    """Prompts over a screen. A demand ends the reading; a dialog is closed by its selector."""

    login: tuple[Selector, ...]
    verification: tuple[Selector, ...]
    dialog: tuple[Selector, ...] = ()
    loading: tuple[Selector, ...] = ()
    end: tuple[Selector, ...] = ()


class Layout(ProfilePart):
    """The screens of some versions of the app.

    Attributes:
        name: Name of the layout; archived bodies refer to it.
        versions: Versions of the app that it fits, with `*` for any text, such as `31.*`.
        is_verified: False until a device has shown it.
        source: Origin of the layout.
    """

    name: str
    versions: tuple[str, ...]
    is_verified: bool
    source: str
    track: TrackLayout
    work: VideoLayout
    share: ShareLayout
    account: AccountLayout | None = None
    prompts: Prompts


class App(ProfilePart):
    """The app of a platform.

    `link` and `work_link` name the public links that open a track and a video in the app.
    `max_wait_s`: how long a screen may take to show.
    """

    package: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]{3,128}$")]
    is_simulated: bool = False
    link: Literal["music_page", "public_music"] = "music_page"
    work_link: Literal["video_page", "public_video"] = "video_page"
    max_wait_s: float = Field(20.0, gt=0)
    rate: HostRate
    layouts: tuple[Layout, ...]

    def layout_for(self, version: str) -> Layout | None:
        """Return the first layout that fits a version; None if no layout fits."""
        for layout in self.layouts:
            if any(fnmatchcase(version, pattern) for pattern in layout.versions):
                return layout
        return None

    def layout_named(self, name: str) -> Layout | None:
        """Return the layout with a name; None if there is no such layout."""
        return next((layout for layout in self.layouts if layout.name == name), None)

    def with_package(self, package: str | None) -> Self:
        """Return the same app with another package name; None keeps its own."""
        return self if package is None else self.model_copy(update={"package": package})


def load_app(profile: str | Path | None) -> App | None:
    """Return the app of a platform profile, by its name or file; None if it has no app.

    Raises:
        InvalidParameterError: Its file does not hold an app.
    """
    if profile is None:
        return None
    if profile in KNOWN_PROFILES:
        path = _FOLDER / f"{profile}{_SUFFIX}"
    else:  # an operator's own profile has its app file beside it
        path = Path(profile).with_name(f"{Path(profile).stem}{_SUFFIX}")
    if not path.is_file():
        return None
    try:
        return App.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidParameterError(
            f"the app file {path.name!r} cannot be read: {type(exc).__name__}"
        ) from exc
    except ValidationError as exc:
        raise InvalidParameterError(
            f"the app file {path.name!r} is not valid at {first_fault(exc)}"
        ) from exc


LARGEST_TREE = 8 * 1024 * 1024
_BOUNDS = re.compile(r"\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]")


class TreeError(ValueError):
    """The text is no accessibility tree, or half of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node. `id` is its resource id without the package; bounds are in pixels."""

    id: str
    kind: str
    package: str
    text: str
    desc: str
    left: int
    top: int
    right: int
    bottom: int

    @property
    def centre(self) -> tuple[int, int]:
        """Point to tap, in pixels: x, y."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


def parse_tree(dump: str) -> tuple[Node, ...]:
    """Return the nodes of a dump, parents before their children.

    Raises:
        TreeError: The dump does not hold a whole tree.
    """
    # Declarations could expand to gigabytes; no dump has one.
    if len(dump) > LARGEST_TREE or "<!" in dump[:1024]:
        raise TreeError("too large, or with declarations that no dump has")
    try:
        root = ET.fromstring(dump)  # noqa: S314  # without declarations nothing can be expanded
    except ET.ParseError as exc:
        raise TreeError("not well-formed") from exc
    if root.tag != "hierarchy":
        raise TreeError("the root is something else")
    nodes = []
    for element in root.iter("node"):
        attributes = element.attrib
        match = _BOUNDS.fullmatch(attributes.get("bounds", ""))
        left, top, right, bottom = map(int, match.groups()) if match else (0, 0, 0, 0)
        node = Node(
            id=attributes.get("resource-id", "").rpartition("/")[2],
            kind=attributes.get("class", "").rpartition(".")[2],
            package=attributes.get("package", ""),
            text=attributes.get("text", ""),
            desc=attributes.get("content-desc", ""),
            left=left,
            top=top,
            right=right,
            bottom=bottom,
        )
        nodes.append(node)
    return tuple(nodes)


type Kind = Literal[
    "login", "verification", "dialog", "share", "account", "work", "track", "loading", "other"
]
type Tree = Sequence[Node]

_IDS_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackScreen:
    """The page of a track."""

    title: str | None
    author: str | None


def find(tree: Tree, selector: Selector) -> Node | None:
    """Return the first node that a selector names."""
    for node in tree:
        if (
            (selector.id is None or selector.id == node.id)
            and (selector.kind is None or selector.kind == node.kind)
            and (selector.text is None or selector.text.fullmatch(node.text) is not None)
            and (selector.desc is None or selector.desc.fullmatch(node.desc) is not None)
        ):
            return node
    return None


def read(tree: Tree, selector: Selector) -> str | None:
    """Return the value of the node that a selector names; None without a node or a value."""
    node = find(tree, selector)
    if node is None:
        return None
    for pattern, text in ((selector.text, node.text), (selector.desc, node.desc)):
        if pattern is not None and "value" in pattern.groupindex:
            match = pattern.fullmatch(text)
            return None if match is None else (match["value"] or "").strip() or None
    return (node.text or node.desc).strip() or None


def kind_of(tree: Tree, layout: Layout) -> Kind:
    """Return which screen it is; a prompt over a screen comes before the screen."""
    prompts = layout.prompts
    # A caption or a nickname may quote any prompt, so the texts of users are never a sign.
    by_users = {layout.work.caption.id, layout.work.author.id} - {None}
    tree = [node for node in tree if not node.id or node.id not in by_users]
    signs: tuple[tuple[Kind, tuple[Selector, ...]], ...] = (
        ("login", prompts.login),
        ("verification", prompts.verification),
        ("dialog", prompts.dialog),
        ("share", (layout.share.sign,)),
        ("account", (layout.account.sign,) if layout.account else ()),
        ("work", (layout.work.sign,)),
        ("track", (layout.track.sign,)),
        ("loading", prompts.loading),
    )
    for kind, selectors in signs:
        if any(find(tree, selector) is not None for selector in selectors):
            return kind
    return "other"


def read_track(tree: Tree, layout: Layout) -> TrackScreen:
    """Read the page of a track."""
    return TrackScreen(title=read(tree, layout.track.title), author=read(tree, layout.track.author))


def read_video(tree: Tree, layout: Layout) -> Mapping[str, str | None]:
    """Return what the screen of one video of a feed shows: its caption, author and counts."""
    video = layout.work
    selectors = {
        "caption": video.caption,
        "nickname": video.author,
        "digg_count": video.digg,
        "comment_count": video.comment,
        "collect_count": video.collect,
        "share_count": video.share,
    }
    return {name: read(tree, selector) for name, selector in selectors.items()}


def list_ids(tree: Tree) -> str:
    """Return the first ids of an unknown screen, so that an operator can add its layout."""
    ids = dict.fromkeys(node.id for node in tree if node.id)
    return ", ".join(list(ids)[:_IDS_LISTED]) or "no ids"


# Packs what was read of the app into one archived body, and parses such a body. Pure.
#
# A body holds the trees as the device dumped them and the name of their layout, so that a better
# layout reads an old body better. The app shows the handle of an account, not its id: the id comes
# from a public surface, and a video without it has no author here.

CONTENT_TYPE = "application/json"
PATH = "/app"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One video in an archived body: the dump of its screen, and that of its share panel."""

    aweme_id: str
    work: str
    share: str


class _AnyBody(BaseModel):
    layout: str


class _TrackBody(_AnyBody):
    track: str


class _PageBody(_AnyBody):
    items: tuple[Item, ...]
    cursor: int
    has_more: bool


class _VideoBody(_AnyBody):
    item: Item
    music_id: str
    account: Author | None = None


def pack_track(dump: str, *, layout: str) -> bytes:
    """Return the body of a track's page."""
    return orjson.dumps({"layout": layout, "track": dump})


def pack_page(items: Sequence[Item], *, layout: str, cursor: int, has_more: bool) -> bytes:
    """Return the body of some videos of a track; `cursor` is the place after the last of them."""
    videos = [asdict(item) for item in items]
    return orjson.dumps({"layout": layout, "items": videos, "cursor": cursor, "has_more": has_more})


def pack_video(item: Item, *, layout: str, music_id: str, account: Author | None = None) -> bytes:
    """Return the body of one video, of the track whose page led to it."""
    body = {
        "layout": layout,
        "item": asdict(item),
        "music_id": music_id,
        "account": None if account is None else asdict(account),
    }
    return orjson.dumps(body)


def parse_app_track(body: bytes, *, music_id: str, app: App, context: ParseContext) -> Track:
    """Parse the page of a track.

    Raises:
        StructureChangedError: The body is not ours, or its layout is not known any more.
    """
    bundle, layout = _opened(_TrackBody, body, app, context)
    page = read_track(_tree(bundle.track, context), layout)
    return Track(
        music_id=music_id,
        surface=context.surface,
        observed_at=context.observed_at,
        title=page.title,
        author=page.author,
    )


def parse_app_page(body: bytes, *, app: App, context: ParseContext) -> VideoPage:
    """Parse some videos of a track, in the order shown. No screen names the music id of a video.

    Raises:
        StructureChangedError: As for a track.
    """
    bundle, layout = _opened(_PageBody, body, app, context)
    videos = tuple(_video(item, layout, context) for item in bundle.items)
    return VideoPage(videos=videos, cursor=bundle.cursor, has_more=bundle.has_more)


def parse_app_video(body: bytes, *, app: App, context: ParseContext) -> Video:
    """Parse one video with the counts that the app shows; its sound is not available here.

    Its music id is that of the track whose page led to it. If no public page shows the video, that
    is the only statement about its sound.

    Raises:
        StructureChangedError: As for a track.
    """
    bundle, layout = _opened(_VideoBody, body, app, context)
    video = _video(bundle.item, layout, context)
    return replace(video, music=Music(music_id=bundle.music_id), author=bundle.account)


def _opened[T: _AnyBody](
    kind: type[T], body: bytes, app: App, context: ParseContext
) -> tuple[T, Layout]:
    try:
        bundle = kind.model_validate_json(body)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
        raise refusal_error(
            "not_json" if first["type"] == "json_invalid" else "structure",
            "the body does not come from the app",
            surface=context.surface,
            reason=f"{'.'.join(map(str, first['loc'])) or '$'}: {first['type']}",
        ) from exc
    layout = app.layout_named(bundle.layout)
    if layout is None:
        raise refusal_error(
            "structure",
            "the layout of this body is not known",
            surface=context.surface,
            reason=bundle.layout,
        )
    return bundle, layout


def _tree(dump: str, context: ParseContext) -> Tree:
    try:
        return parse_tree(dump)
    except TreeError as exc:
        raise refusal_error(
            "structure", "it is no accessibility tree", surface=context.surface, reason=str(exc)
        ) from exc


def _video(item: Item, layout: Layout, context: ParseContext) -> Video:
    texts = read_video(_tree(item.work, context), layout)
    parsed = {name: parse_count(texts[name] or "") for name in COUNTS}
    counts = {name: count for name, count in parsed.items() if count is not None}
    return Video(
        aweme_id=item.aweme_id,
        surface=context.surface,
        observed_at=context.observed_at,
        desc=texts["caption"],
        share_url=context.link_of(item.aweme_id),
        statistics=Statistics(**{name: count.value for name, count in counts.items()}),
        is_exact=all(count.is_exact for count in counts.values()),  # "1.2w" is rounded
    )
