"""`sametrack doctor --live-check`: consent, progress and the result of a live check."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import typer

from api.cli.rendering.live_check import LiveCheckProgress, print_live_check
from api.cli.terminal import (
    EXIT_FAILED,
    err,
    exit_with_input_error,
    out,
    print_json,
    print_message,
    safe,
)
from pipelines.doctor.live_check.round import LONGEST_S, ORDER, REQUEST_LIMIT, LiveCheckTimes
from pipelines.doctor.live_check.run import LiveCheckRequest, run_live_check
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings


def check_live(
    *,
    link: str | None,
    out_folder: Path | None,
    yes: bool,
    pseudonymise: bool,
    as_json: bool,
    time_limit: float | None,
) -> NoReturn:
    """Ask for consent, run the live check, print the result.

    Raises:
        typer.Exit: With the status of the verdict.
    """
    settings = Settings()
    profile = choose_profile(settings)
    if profile.has_own_world:
        exit_with_input_error(
            f"the source {settings.data_provider!r} has its own world: there is nothing to check",
            hint="set DATA_PROVIDER=vidplat-public and PROFILE=public",
        )
    times = _times(profile, time_limit)
    folder = out_folder or Path(f"live-check-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    if not profile.may_name_loopback and not yes:
        ask_for_consent(profile, folder, is_interactive=sys.stdin.isatty())
    request = LiveCheckRequest(
        settings=settings,
        profile=profile,
        folder=folder,
        link=link,
        is_pseudonymised=pseudonymise,
        times=times,
    )
    result = run_live_check(request, watch=LiveCheckProgress().listener())
    if as_json:
        print_json(result.report)
    else:
        print_live_check(out, result.report)
    raise typer.Exit(result.verdict.exit_code)


def _times(profile: PlatformProfile, time_limit: float | None) -> LiveCheckTimes:
    if time_limit is not None and time_limit > LONGEST_S and not profile.may_name_loopback:
        exit_with_input_error(
            f"a live check takes at most {LONGEST_S:.0f} s, not {time_limit:g}",
            hint="only the sandbox is waited for longer",
        )
    return LiveCheckTimes() if time_limit is None else LiveCheckTimes.within(time_limit)


def ask_for_consent(profile: PlatformProfile, folder: Path, *, is_interactive: bool) -> None:
    """Return if the user consents to the requests.

    Raises:
        typer.Exit: Status 1 if the user declines, 2 if there is no terminal to ask at.
    """
    if not is_interactive:
        exit_with_input_error(
            f"a live check sends requests to {profile.hosts.share}, and nobody is here to consent",
            hint="add --yes if you are sure, or try it with PROFILE=sandbox first",
        )
    err.print(
        f"This asks {len(ORDER)} surfaces of [bold]{safe(profile.hosts.share)}[/] and its other "
        f"hosts once each: at most {REQUEST_LIMIT} requests, within a minute, as a guest who says "
        f"what it is. The answers are written to [bold]{safe(folder)}[/].",
        soft_wrap=True,
    )
    if not typer.confirm("Start?", err=True):
        print_message("nothing was requested")
        raise typer.Exit(EXIT_FAILED)
