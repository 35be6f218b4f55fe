"""Provider `mobileapp-guest`: a track's videos, read one by one in the official app as a guest.

It needs an Android device that the operator runs, and serves when the public pages withhold data;
it is slow by nature. The app provides a track and its videos. Everything else is requested from the
public surfaces, details included: they replace counts that the app rounds; if they are unavailable,
the values of the app are used.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import cast

from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.http.client import GuestClient
from pipelines.platform.http.host_policy import HostRateLimiter
from pipelines.platform.mobileapp import screens
from pipelines.platform.mobileapp.phone import Claim, Phone
from pipelines.platform.mobileapp.reader import SURFACE, AppReader
from pipelines.platform.mobileapp.screens import App, load_app
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.providers.vidplat_public import VidplatPublic
from pipelines.platform.sources import table
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import Reading
from pipelines.settings import Settings
from warehouse.extras import install_hint
from warehouse.records import errors
from warehouse.records.times import observed_now
from warehouse.records.videos import Author, Track, Unavailability, VideoPage

WORK_SURFACE = "app_work"
PAGE_SIZE = 5
"""Videos per page: what is kept in one go, and lost at most when a scan is cancelled."""


def build(name: str, dependencies: ProviderDependencies) -> "MobileAppGuest":
    """Build the source with the device of the settings, which is not contacted yet.

    Raises:
        ProviderUnsupportedError: No device is named, the extra is missing, or the platform
            profile has no app.
        InvalidParameterError: The app file of the profile cannot be read.
    """
    app = choose_app(dependencies)
    phone = open_phone(dependencies.settings)
    limiter = HostRateLimiter(
        dependencies.control,
        app.rate,
        daily_budget=dependencies.settings.daily_request_budget,
        clock=dependencies.clock,
    )
    return MobileAppGuest(dependencies, name=name, app=app, phone=phone, limiter=limiter)


def choose_app(dependencies: ProviderDependencies) -> App:
    """Return the app of the platform profile, with the package of the settings if one is set.

    Raises:
        ProviderUnsupportedError: The profile has no app.
    """
    settings = dependencies.settings
    app = load_app(settings.profile)
    if app is None:
        raise errors.ProviderUnsupportedError(
            f"the profile {dependencies.profile.name!r} has no app to read",
            hint="lay an app file beside the profile (docs/providers.md)",
        )
    return app.with_package(settings.mobileapp_package)


def open_phone(settings: Settings) -> Phone:
    """Return the device of the settings, which is not contacted yet.

    Raises:
        ProviderUnsupportedError: No device is named, or the extra is missing.
    """
    serial = settings.mobileapp_device
    if serial is None:
        raise errors.ProviderUnsupportedError(
            "no Android device is named for mobileapp-guest",
            hint="set MOBILEAPP_DEVICE to a serial that `adb devices` lists, "
            "or MUSIC_DATA_PROVIDER=public-graph",
        )
    try:
        # An extra: a reader without a device need not have it.
        from pipelines.platform.mobileapp.adb import AdbPhone  # noqa: PLC0415
    except ImportError as exc:
        raise errors.ProviderUnsupportedError(
            "mobileapp-guest needs a library that is not installed", hint=install_hint("mobileapp")
        ) from exc
    return AdbPhone(serial, port=settings.mobileapp_adb_port)


class MobileAppGuest(VidplatPublic):
    """The app for a track and its videos, and the public surfaces for everything else."""

    def __init__(
        self,
        dependencies: ProviderDependencies,
        *,
        name: str,
        app: App,
        phone: Phone,
        limiter: HostRateLimiter,
    ) -> None:
        client: GuestClient = dependencies.guest()
        super().__init__(client, name=name)
        self._app = app
        # The videos that the app showed, each with the track whose page led to it.
        self._shown: dict[str, tuple[screens.Item, str]] = {}
        self._accounts: dict[str, Author | None] = {}
        self._has_accounts = True
        self._reader = AppReader(
            phone,
            app,
            limiter=limiter,
            claim=Claim(phone.address, clock=dependencies.clock),
            clock=dependencies.clock,
            link_of=lambda music_id: client.profile.address(app.link, music_id=music_id),
            identify=self._identify,
        )

    async def ask[T](
        self, question: table.Question[SurfaceReader, T], request: table.SourceRequest
    ) -> Reading[T]:
        """Answer a question by the app first if it is about a track, its videos, or one of them."""
        answers: Mapping[str, Callable[[table.SourceRequest], Awaitable[Reading[object]]]] = {
            table.TRACK.name: self._track,
            table.MUSIC_LIST.name: self._music_page,
            table.DETAIL.name: self._detail,
        }
        answer = answers.get(question.name)
        if answer is None:
            return await super().ask(question, request)
        return cast("Reading[T]", await answer(request))

    async def _track(self, request: table.SourceRequest) -> Reading[Track]:
        """Return the track as its public surface describes it, else as the app does.

        The app is opened first, so that a missing device is reported at once.
        """
        music_id = request.entity_id
        with open_call_trace() as call_trace:
            app_track: Reading[Track] | errors.UpstreamError
            try:
                async with self._client.policy.circuits.watch(self._reader.host, SURFACE):
                    dump = await self._reader.read_track(music_id)
                context = self._context(SURFACE)
                body = screens.pack_track(dump, layout=(await self._reader.ready()).name)
                track = screens.parse_app_track(
                    body, music_id=music_id, app=self._app, context=context
                )
                app_track = self._reading(body, track, music_id, context, 0)
            except (errors.DeviceUnavailableError, errors.AppUnreadableError):
                raise
            except errors.UpstreamError as error:  # a demand, or a screen that is not known
                app_track = error
            # The public surface describes the track in full, the page of the app its title alone.
            try:
                reading = await super().ask(table.TRACK, request)
            except errors.UpstreamError:
                if isinstance(app_track, errors.UpstreamError):
                    raise app_track from None
                reading = app_track
        return replace(reading, request_count=call_trace.request_count)

    async def _music_page(self, request: table.SourceRequest) -> Reading[VideoPage]:
        """Return videos of a track from a place on, each opened in the app."""
        music_id, cursor = request.entity_id, request.cursor
        with open_call_trace() as call_trace:
            async with self._client.policy.circuits.watch(self._reader.host, SURFACE):
                page = await self._reader.read_page(music_id, cursor, PAGE_SIZE)
        layout = (await self._reader.ready()).name
        for item in page.items:
            self._shown[item.aweme_id] = (item, music_id)
        body = screens.pack_page(
            page.items, layout=layout, cursor=cursor + page.taken, has_more=page.has_more
        )
        context = self._context(SURFACE)
        videos = screens.parse_app_page(body, app=self._app, context=context)
        return self._reading(body, videos, music_id, context, call_trace.request_count)

    async def _detail(self, request: table.SourceRequest) -> Reading[table.DetailOrUnavailable]:
        """Return a video by its public sources, whose counts are exact; else as the app shows it.

        The app shows the handle of its author alone, so the public surfaces are asked for the
        account behind it.
        """
        aweme_id = request.entity_id
        if aweme_id not in self._shown:
            return await super().ask(table.DETAIL, request)
        item, music_id = self._shown[aweme_id]
        with open_call_trace() as call_trace:
            # The app rounds counts ("1.2万"), so what it showed is the last resort.
            reading: Reading[table.DetailOrUnavailable] | None = None
            with suppress(errors.UpstreamError):
                reading = await super().ask(table.DETAIL, request)
            if reading is None or isinstance(reading.value, Unavailability):
                context = self._context(WORK_SURFACE)
                body = screens.pack_video(
                    item,
                    layout=(await self._reader.ready()).name,
                    music_id=music_id,
                    account=await self._account_of(aweme_id),
                )
                detail = screens.parse_app_video(body, app=self._app, context=context)
                reading = self._reading(body, detail, aweme_id, context, 0)
        return replace(reading, request_count=call_trace.request_count)

    async def aclose(self) -> None:
        """Close the connections to the device and to the hosts."""
        try:
            await self._reader.aclose()
        finally:
            await super().aclose()

    async def _account_of(self, aweme_id: str) -> Author | None:
        """Return the author of a video; None if unknown, which does not fail the video."""
        if aweme_id in self._accounts or not self._has_accounts:
            return self._accounts.get(aweme_id)
        author = None
        try:
            # The author of a video leads to a page of the app that shows the public handle.
            link = self._client.profile.address(self._app.work_link, aweme_id=aweme_id)
            async with self._client.policy.circuits.watch(self._reader.host, SURFACE):
                handle = await self._reader.read_handle(link)
            if handle is not None:
                request = table.SourceRequest(entity_id=f"@{handle}")
                account = (await table.read_user_by_handle(self._surfaces, request)).value
                author = Author(
                    sec_uid=account.sec_uid,
                    uid=account.uid,
                    unique_id=account.unique_id,
                    nickname=account.nickname,
                    avatar_url=account.avatar_url,
                )
        except errors.UnresolvedIdError:
            pass
        except errors.UpstreamError:  # a source that refuses is not asked again for other authors
            self._has_accounts = False
            return None
        self._accounts[aweme_id] = author
        return author

    async def _identify(self, text: str) -> str | None:
        """Return the id of the video that a shared text names; None if its link is dead."""
        target = self.find_target(text)
        if target is not None and target.kind == "short" and target.url is not None:
            try:
                target = await self.resolve_link(target.url)
            except errors.InvalidMusicInputError:
                return None
        return target.id if target is not None and target.kind == "video" else None

    def _context(self, surface: str) -> ParseContext:
        return ParseContext(
            surface=surface,
            observed_at=observed_now(),
            link_of=self._client.profile.video_link,
        )

    def _reading[T](
        self, body: bytes, value: T, entity_id: str, context: ParseContext, requests: int
    ) -> Reading[T]:
        return Reading(
            surface=context.surface,
            entity_id=entity_id,
            value=value,
            payload=body,
            content_type=screens.CONTENT_TYPE,
            http_status=200,
            source_path=screens.PATH,
            fetched_at=context.observed_at,
            request_count=requests,
        )
