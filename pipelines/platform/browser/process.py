"""The Chromium process: which flags, start and stop.

The flags and the proxy together keep it from reaching anything by itself. Its driver ends it when
this process dies, in whatever way. Not here: pages.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from playwright.async_api import Browser, Error, Playwright, async_playwright

from warehouse.records.errors import UnreachableError, UpstreamError

SURFACE = "browser"
START_S = 90.0
"""The first start on a cold disk reads 300 MB while other programs run."""
CLOSE_S = 5.0
_DISABLED_FEATURES = (
    "AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,"
    "InterestFeedContentSuggestions,MediaRouter,OptimizationHints,PrivacySandboxSettings4,"
    "SafeBrowsing,Translate"
)
FLAGS = (
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    f"--disable-features={_DISABLED_FEATURES}",
    "--disable-quic",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    # For whatever the flags above do not switch off: no name resolves, only the proxy is reachable.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # Chromium bypasses every proxy for loopback addresses unless told otherwise.
    "--proxy-bypass-list=<-loopback>",
)


class BrowserProcess:
    """One Chromium with its driver; started when first needed, and restarted when it has ended.

    Args:
        chromium: Path of the executable.
    """

    def __init__(self, chromium: Path) -> None:
        self._chromium = chromium
        self._driver: Playwright | None = None
        self._starting: asyncio.Task[Browser] | None = None

    @property
    def has_ended(self) -> bool:
        """True when it was started and is no longer running, or failed to start."""
        task = self._starting
        if task is None or not task.done():
            return False
        failed = task.cancelled() or task.exception() is not None
        return failed or not task.result().is_connected()

    async def started(self, *, proxy: str) -> Browser:
        """Return the running browser, and start it if needed.

        Starting continues when the caller is cancelled, so that `aclose` knows what to end.

        Raises:
            UnreachableError: The browser does not start.
        """
        if self._starting is None or self.has_ended:
            self._starting = asyncio.create_task(self._start(proxy))
        return await asyncio.shield(self._starting)

    async def aclose(self) -> None:
        """Stop the browser and its driver, whatever state they are in."""
        try:
            if self._starting is not None:
                with suppress(Error, UpstreamError, TimeoutError):
                    async with asyncio.timeout(CLOSE_S):
                        await (await self._starting).close()
        finally:
            if self._driver is not None:
                await self._driver.stop()  # ends a browser that did not end by itself
            self._starting = self._driver = None

    async def _start(self, proxy: str) -> Browser:
        if self._driver is None:
            self._driver = await async_playwright().start()
        try:
            return await self._driver.chromium.launch(
                executable_path=self._chromium,
                args=[*FLAGS, f"--proxy-server={proxy}"],
                # Chromium cannot sandbox itself as root; for every other user it must.
                chromium_sandbox=os.geteuid() != 0,
                # Signals are for this process, which closes the browser when it ends.
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=START_S * 1000,
            )
        except Error as error:
            raise UnreachableError(
                "the browser did not start",
                surface=SURFACE,
                reason="browser_start",
                hint="run `chromium --headless=new --dump-dom about:blank` to see what it says",
            ) from error
