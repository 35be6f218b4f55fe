"""Parsers of one account: `user_info`, and the share page `user_page`."""

from dataclasses import replace

from pipelines.platform.parsers.fields import JsonNode, first_picture, parse_json, read_count
from pipelines.platform.parsers.pages import find_account
from pipelines.platform.parsers.refusals import refuse_status, says_unknown
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.refusal_table import refusal_error
from warehouse.records.errors import SubstitutionError, UnresolvedIdError
from warehouse.records.videos import Account, FollowerCountSource

_AVATARS = ("avatar_larger", "avatar_medium", "avatar_thumb")


def parse_user_info(body: bytes, sec_uid: str, seen: ParseContext) -> Account:
    """Parse the requested account from `user_info`.

    Raises:
        UnresolvedIdError: The platform knows no such account.
        SubstitutionError: The response is another account.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    info = _user_info(body, seen, _unknown_account(sec_uid))
    found = info.name("sec_uid")
    if found is None and not _has_id(info):  # old forms show only the other ids
        raise info.missing("sec_uid")
    if found not in {None, sec_uid}:
        raise SubstitutionError("the response is another account", surface=seen.surface)
    return _account(info, sec_uid, seen)


def parse_user_by_handle(body: bytes, handle: str, seen: ParseContext) -> Account:
    """Parse the account with a public handle, given with or without its `@`.

    Case does not count: the platform finds a handle in any.

    Raises:
        UnresolvedIdError: The platform knows no such account.
        SubstitutionError: The response is another account.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    unknown = UnresolvedIdError(
        "the platform knows no account with this handle", hint="check the handle after the @"
    )
    info = _user_info(body, seen, unknown)
    sec_uid = info.name("sec_uid")
    if sec_uid is None:
        raise info.missing("sec_uid")
    shown = {name.casefold() for name in (info.name("unique_id"), info.id("short_id")) if name}
    if handle.removeprefix("@").casefold() not in shown:
        raise SubstitutionError("the response is another account", surface=seen.surface)
    return _account(info, sec_uid, seen)


def parse_account_page(body: bytes, sec_uid: str, seen: ParseContext) -> Account:
    """Parse the account of a share page, which shows fewer counts: zeros there mean unknown.

    Raises:
        UnresolvedIdError: The platform knows no such account.
        SubstitutionError: The page shows another account.
        UpstreamError: The page withholds it, or keys or types are unknown.
    """
    page, result = find_account(body, surface=seen.surface)
    if says_unknown(result):
        raise _unknown_account(sec_uid)
    refuse_status(result)
    info = result.node("user_info")
    if info is None:
        raise refusal_error(
            "page_without_data",
            "the page contains no account",
            surface=seen.surface,
            reason=result.keys_seen(),
        )
    found = info.name("sec_uid") or page.name("lastPath")
    if found is None:
        raise info.missing("sec_uid")
    if found != sec_uid:
        raise SubstitutionError("the response is another account", surface=seen.surface)
    account = _account(info, sec_uid, seen)
    return replace(
        account,
        follower_count=account.follower_count or None,
        follower_count_source=account.follower_count_source if account.follower_count else None,
        following_count=account.following_count or None,
        aweme_count=account.aweme_count or None,
        total_favorited=account.total_favorited or None,
        favoriting_count=account.favoriting_count or None,
    )


def _user_info(body: bytes, seen: ParseContext, unknown: UnresolvedIdError) -> JsonNode:
    answer = parse_json(body, surface=seen.surface)
    if says_unknown(answer):
        raise unknown
    refuse_status(answer)
    return answer.must_node("user_info")


def _unknown_account(sec_uid: str) -> UnresolvedIdError:
    return UnresolvedIdError(f"the platform knows no account {sec_uid[:64]}")


def _account(info: JsonNode, sec_uid: str, seen: ParseContext) -> Account:
    followers, source = _followers(info)
    return Account(
        sec_uid=sec_uid,
        surface=seen.surface,
        observed_at=seen.observed_at,
        uid=info.id("uid"),
        unique_id=info.name("unique_id"),
        short_id=info.id("short_id"),
        nickname=info.name("nickname"),
        signature=info.text("signature"),
        avatar_url=first_picture(info, _AVATARS),
        follower_count=followers,
        follower_count_source=source,
        following_count=_exact(info, "following_count"),
        aweme_count=_exact(info, "aweme_count"),
        total_favorited=_exact(info, "total_favorited"),
        favoriting_count=_exact(info, "favoriting_count"),
        ip_location=info.name("ip_location"),
    )


def _followers(info: JsonNode) -> tuple[int | None, FollowerCountSource | None]:
    """Return the followers and the field that holds them.

    Guests may get only the sum over sister platforms, beside no count or a count of 0. A sum of 0
    is unknown: surfaces that do not show it send 0.
    """
    own, everywhere = _exact(info, "follower_count"), _exact(info, "mplatform_followers_count")
    if not own and everywhere:
        return everywhere, "mplatform_followers_count"
    return own, None if own is None else "follower_count"


def _has_id(info: JsonNode) -> bool:
    return bool(info.id("uid") or info.id("short_id") or info.name("unique_id"))


def _exact(info: JsonNode, key: str) -> int | None:
    """Return an exact count. An account has no field that marks rounding, so rounded is unknown."""
    count = read_count(info, key)
    return count.value if count is not None and count.is_exact else None
