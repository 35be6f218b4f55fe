"""Accounts: resolving an input to an account, and reading its profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from anyio.to_thread import run_sync

from api.schemas.lists import InputSource, ResolvedUser, UserProfile
from api.services.reads.documents import ReadResult, provenance, to_user_document
from api.services.reads.sources import FALLBACK_PROVIDER, Deadline, Sources
from pipelines.captures.session import Captures
from pipelines.captures.stored_captures import fresh_until, is_fresh
from pipelines.documents.videos import to_time
from pipelines.platform.parsers.links import LinkTarget
from warehouse.queries.captures import read_profile
from warehouse.records.errors import InvalidMusicInputError, UnresolvedIdError
from warehouse.records.videos import Account

SURFACE = "user_info"
SURFACES = ("user_info", "user_page")
_SOURCES: Mapping[str, InputSource] = {
    "user": "profile_link",
    "short": "short_link",
    "video": "work_author",
}
_PLAIN_TEXT: InputSource = "text"


@dataclass(frozen=True, slots=True)
class ServedProfile:
    """A profile to return; `is_fallback` marks demo data as a fallback."""

    account: Account
    data_provider: str
    is_fallback: bool = False


async def resolve_user(
    sources: Sources, text: str, *, now: datetime, deadline: Deadline
) -> ReadResult[ResolvedUser]:
    """Return the account that an id, a link, or a text around one leads to.

    Raises:
        UnresolvedIdError: The input leads to no account.
        UpstreamError: A link could not be followed.
    """
    target = sources.profile.find_target(text)
    if target is not None and target.url is not None:
        await _refuse_dead_link(sources, target, now=now)
    async with deadline.guard("short_link"), sources.open("users") as captures:
        sec_user_id = await captures.resolve_user(text)
    return ReadResult(
        {
            "sec_user_id": sec_user_id,
            "resolved_url": sources.profile.address("public_user", sec_uid=sec_user_id),
            "source": _PLAIN_TEXT if target is None else _SOURCES.get(target.kind, _PLAIN_TEXT),
            **provenance(sources.data_provider, is_demo=sources.is_demo),
        }
    )


async def read_user(
    sources: Sources, sec_user_id: str, *, now: datetime, deadline: Deadline
) -> ReadResult[UserProfile]:
    """Return the profile of an account.

    Raises:
        UnresolvedIdError: The account does not exist.
        UpstreamError: The platform refused the profile.
    """
    profile = await known_profile(sources, sec_user_id, now=now)
    if profile is None:
        async with deadline.guard(SURFACE), sources.open("users") as captures:
            profile = await fetch_profile(sources, captures, sec_user_id)
    account = profile.account
    document: UserProfile = {
        "user": to_user_document(account),
        "observed_at": to_time(account.observed_at),
        **provenance(profile.data_provider, is_demo=sources.is_demo or profile.is_fallback),
    }
    until = fresh_until(account.observed_at, sources.settings.profile_ttl)
    return ReadResult(
        document, ((SURFACE, sec_user_id),), until, is_cacheable=not profile.is_fallback
    )


async def known_profile(
    sources: Sources, sec_user_id: str, *, now: datetime
) -> ServedProfile | None:
    """Return a recently observed profile, or None if it must be read.

    Raises:
        UnresolvedIdError: The platform recently reported that the account does not exist.
    """
    stored = await run_sync(read_profile, sources.engine, sec_user_id)
    ttl_s = sources.settings.profile_ttl
    if stored is not None and is_fresh(stored[0].observed_at, now=now, ttl_s=ttl_s):
        return ServedProfile(*stored)
    await raise_if_unknown(sources, sec_user_id, now=now)
    return None


async def fetch_profile(sources: Sources, captures: Captures, sec_user_id: str) -> ServedProfile:
    """Read the current profile from the source.

    Raises:
        UnresolvedIdError: The account does not exist.
        UpstreamError: The platform refused the profile.
    """
    account = await captures.account(sec_user_id)
    is_fallback = captures.fallback_count > 0
    return ServedProfile(
        account, FALLBACK_PROVIDER if is_fallback else sources.data_provider, is_fallback
    )


async def raise_if_unknown(sources: Sources, sec_user_id: str, *, now: datetime) -> None:
    """Raise if the platform recently reported that the account does not exist.

    Raises:
        UnresolvedIdError: The platform recently reported that the account does not exist.
    """
    if await sources.had_lately(UnresolvedIdError.type, SURFACES, sec_user_id, now=now):
        raise UnresolvedIdError(
            f"Account {sec_user_id[:64]} was not found on the platform",
            hint=f"Check the id; it is looked up again after {sources.settings.negative_ttl} s",
        )


async def _refuse_dead_link(sources: Sources, target: LinkTarget, *, now: datetime) -> None:
    outcome = InvalidMusicInputError.type
    if await sources.had_lately(outcome, ("short_link",), target.url or "", now=now):
        raise UnresolvedIdError(
            "The short link leads nowhere", hint="Copy the link again from the app or page"
        )
