"""Moves through the app: to a track, from one of its videos to the next, and back after a loss.

Each step waits for its turn; a demand of the platform ends the reading with an error that names it.
Places are counted from the first video of a track, so that the reader finds its place again on a
device that was lost and came back.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipelines.clock import Clock
from pipelines.platform.call_trace import current_trace, note_item
from pipelines.platform.http.host_policy import HostRateLimiter
from pipelines.platform.mobileapp import screens
from pipelines.platform.mobileapp.phone import LOST, Claim, NotIdleError, Phone, unavailable
from pipelines.platform.mobileapp.screens import App, Item, Layout, Selector
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import AppUnreadableError, DeviceUnavailableError, UpstreamError

SURFACE = "music_app"
LOOK_EVERY_S = 0.3
RETURN_S = 60.0
"""How long a device that was lost may take to come back."""
LOSSES = 3
"""Maximum number of losses while some videos are read."""
NAMELESS = 3
"""If the links of so many videos in a row cannot be read, the layout does not fit the app."""

type LinkOf = Callable[[str], str]
type Identify = Callable[[str], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Screen:
    """A dump, and its nodes."""

    dump: str
    tree: screens.Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Position of the device: the video of a track that it shows, counted from 0."""

    music_id: str
    index: int
    screen: Screen


@dataclass(slots=True)
class AppPage:
    """Videos of a track as they were read.

    `taken` counts those without a link, too; `nameless` counts the latest ones without a link.
    """

    items: list[Item]
    taken: int = 0
    has_more: bool = True
    nameless: int = 0


class AppReader:
    """Reads one app on one device.

    Args:
        phone: The device.
        app: The app and its layouts.
        turns: Turns at the device.
        claim: Keeps other readers of this machine away.
        clock: Time, for waits.
        link_of: The public link of a track, by its id.
        identify: The video that a shared text names.

    Raises (all methods):
        DeviceUnavailableError: The device cannot be used, or did not come back.
        AppUnreadableError: The app is missing, or its version is not known.
        UpstreamError: By name, what the app demands, or that a screen is not as known.
    """

    def __init__(
        self,
        phone: Phone,
        app: App,
        *,
        limiter: HostRateLimiter,
        claim: Claim,
        clock: Clock,
        link_of: LinkOf,
        identify: Identify,
    ) -> None:
        self.app = app
        self.host = f"device:{phone.serial}"
        self._phone = phone
        self._limiter = limiter
        self._claim = claim
        self._clock = clock
        self._link_of = link_of
        self._identify = identify
        self._layout: Layout | None = None
        self._place: Place | None = None
        self._ended: dict[tuple[str, int], UpstreamError] = {}

    async def aclose(self) -> None:
        """Close the connection to the device."""
        await self._phone.aclose()

    async def ready(self) -> Layout:
        """Return the layout of the app on the device.

        A missing device is reported at once, without waiting.
        """
        if self._layout is None:
            self._layout = await find_layout(self._phone, self.app)
        return self._layout

    async def read_track(self, music_id: str) -> str:
        """Return the dump of a track's page."""
        async with self._claim.held():
            self._place = None
            return (await self._open_track(music_id)).dump

    async def read_page(self, music_id: str, cursor: int, count: int) -> AppPage:
        """Read at most `count` videos from a place on.

        An error after the first video is raised when the next page is requested, so that the videos
        that were read are not lost.
        """
        if (music_id, cursor) in self._ended:
            raise self._ended.pop((music_id, cursor))
        page = AppPage(items=[])
        for losses in range(LOSSES + 1):
            try:
                await self._extend(page, music_id, cursor, count)
            except UpstreamError as error:
                # After a loss the app may show anything, so the reader opens the track again.
                self._place = None
                if losses < LOSSES and await self._comes_back(error):
                    continue
                if not page.items:
                    raise
                self._ended[(music_id, cursor + page.taken)] = error
            break
        return page

    async def read_handle(self, link: str) -> str | None:
        """Return the public handle of the author of the video that a link opens.

        None if the layout knows no page of accounts, or the page shows no handle.
        """
        layout = await self.ready()
        if layout.account is None:
            return None
        async with self._claim.held():
            self._place = None
            await self._act(lambda: self._phone.open(link, package=self.app.package))
            video = await self._settle("work", layout)
            await self._act(lambda: self._tap(video, layout.work.author))
            account = await self._settle("account", layout)
            return screens.read(account.tree, layout.account.handle)

    async def _extend(self, page: AppPage, music_id: str, cursor: int, count: int) -> None:
        """Read videos until a page has `count` of them, or the track has no further one."""
        async with self._claim.held() as is_ours:
            # Another process used the screen meanwhile, so it shows our place no more.
            if not is_ours:
                self._place = None
            while page.taken < count:
                place = await self._go_to(music_id, cursor + page.taken)
                if place is None:
                    page.has_more = False
                    return
                item = await self._read_item(place)
                page.taken += 1
                page.nameless = 0 if item is not None else page.nameless + 1
                if item is not None:
                    page.items.append(item)
                    note_item(item.aweme_id)
                elif page.nameless >= NAMELESS:
                    raise refusal_error(
                        "structure", "no video names its link", surface=SURFACE, reason="no_link"
                    )

    async def _read_item(self, place: Place) -> Item | None:
        """Read the video at a place, with its link; None if the link names no video."""
        layout = await self.ready()
        await self._act(lambda: self._tap(place.screen, layout.work.share))
        panel = await self._settle("share", layout)
        text = screens.read(panel.tree, layout.share.link)
        # The text names the video by a short link, which is resolved outside of the app.
        await self._phone.back()
        await self._settle("work", layout)
        aweme_id = await self._identify(text) if text else None
        if aweme_id is None:
            return None
        return Item(aweme_id=aweme_id, work=place.screen.dump, share=panel.dump)

    async def _go_to(self, music_id: str, index: int) -> Place | None:
        """Move to the video at a place; None past the last one."""
        layout, place = await self.ready(), self._place
        if place is None or place.music_id != music_id or place.index > index:
            place = None
            page = await self._open_track(music_id)
            if (
                screens.find(page.tree, layout.track.first) is not None
            ):  # else a track without videos
                await self._act(lambda: self._tap(page, layout.track.first))
                screen = await self._settle("work", layout)
                place = Place(music_id=music_id, index=0, screen=screen)
        while place is not None and place.index < index:
            place = await self._advance(place, layout)
        self._place = place
        return place

    async def _open_track(self, music_id: str) -> Screen:
        layout = await self.ready()
        link = self._link_of(music_id)
        await self._act(lambda: self._phone.open(link, package=self.app.package))
        return await self._settle("track", layout)

    async def _advance(self, place: Place, layout: Layout) -> Place | None:
        """Swipe to the next video; None where swiping leads no further."""
        # The screen shows no id, so a video is told from the next one by its texts and counts.
        before = screens.read_video(place.screen.tree, layout)
        for _ in range(2):  # the app may take one swipe for another gesture
            await self._act(self._phone.swipe_up)
            screen = await self._settle("work", layout)
            if any(
                screens.find(screen.tree, selector) is not None for selector in layout.prompts.end
            ):
                return None
            if screens.read_video(screen.tree, layout) != before:
                return Place(music_id=place.music_id, index=place.index + 1, screen=screen)
        return None

    async def _settle(self, expected: screens.Kind, layout: Layout) -> Screen:
        """Return the expected screen as soon as it shows."""
        give_up_at = self._clock.monotonic() + self.app.max_wait_s
        while True:
            screen = await self._look(layout)
            kind = screens.kind_of(screen.tree, layout)
            if kind == expected:
                return screen
            if kind == "login":
                raise refusal_error("app_login", "the app asks for a login", surface=SURFACE)
            if kind == "verification":
                raise refusal_error(
                    "app_verification", "the app demands verification", surface=SURFACE
                )
            if kind == "dialog":
                # Whatever lies over the screen is closed by its own button, never confirmed.
                nodes = (screens.find(screen.tree, selector) for selector in layout.prompts.dialog)
                button = next((node for node in nodes if node is not None), None)
                if button is not None:
                    await self._phone.tap(*button.centre)
            if self._clock.monotonic() >= give_up_at:
                raise refusal_error(
                    "structure",
                    f"the app shows another screen than {expected} ({kind})",
                    surface=SURFACE,
                    reason=screens.list_ids(screen.tree),
                )
            await self._clock.sleep(LOOK_EVERY_S)

    async def _look(self, layout: Layout) -> Screen:
        """Return what the screen shows; a playing video is paused first."""
        give_up_at = self._clock.monotonic() + self.app.max_wait_s
        while True:
            try:
                dump = await self._phone.dump()
                return Screen(dump, screens.parse_tree(dump))
            except screens.TreeError as exc:
                raise unavailable("lost", self._phone.serial) from exc
            except NotIdleError as exc:
                if self._clock.monotonic() >= give_up_at:
                    raise refusal_error(
                        "unreachable", "the screen never stands still", surface=SURFACE
                    ) from exc
                if layout.work.is_paused_by_tap:
                    await self._phone.pause()
                await self._clock.sleep(LOOK_EVERY_S)

    async def _tap(self, screen: Screen, selector: Selector) -> None:
        node = screens.find(screen.tree, selector)
        if node is None:
            raise refusal_error(
                "structure",
                "a button is not where the layout has it",
                surface=SURFACE,
                reason=screens.list_ids(screen.tree),
            )
        await self._phone.tap(*node.centre)

    async def _act(self, step: Callable[[], Awaitable[None]]) -> None:
        """Take a step that makes the app send requests: in its turn, and counted as one."""
        await self._limiter.wait(self.host, surface=SURFACE)
        current_trace().request_count += 1
        await step()

    async def _comes_back(self, error: UpstreamError) -> bool:
        """Wait for a device that was lost; False for any other error, or if it stays away."""
        is_lost = isinstance(error, DeviceUnavailableError) and error.reason in LOST
        if not is_lost or self._layout is None:  # without a layout it was never there
            return False
        give_up_at = self._clock.monotonic() + RETURN_S
        while self._clock.monotonic() < give_up_at:
            try:
                if await self._phone.state() == "device":
                    return True
            except DeviceUnavailableError as still:
                if still.reason not in LOST:
                    return False
            await self._clock.sleep(1.0)
        return False


async def find_layout(phone: Phone, app: App) -> Layout:
    """Return the layout of the app that a device has.

    Raises:
        DeviceUnavailableError: It is not online, or of another world than the platform.
        AppUnreadableError: The app is not installed, or the screens of its version are unknown.
    """
    if await phone.state() != "device":
        raise unavailable("offline", phone.serial)
    if await phone.is_simulated() != app.is_simulated:
        raise unavailable("real_device" if app.is_simulated else "stand_in_device", phone.serial)
    version = await phone.version_of(app.package)
    if version is None:
        raise AppUnreadableError(
            f"the app {app.package} is not installed on {phone.serial}",
            surface="device",
            reason="not_installed",
            hint="install it there, or set MOBILEAPP_PACKAGE to the one that is",
        )
    layout = app.layout_for(version)
    if layout is None:
        raise AppUnreadableError(
            f"the screens of version {version or 'unknown'} are not known",
            surface="device",
            reason="unknown_layout",
            hint="add a layout for it to the app file of the profile (docs/providers.md)",
        )
    return layout
