"""Parsers of what describes one entity: `music_info`, `user_info`, `user_page`, `hashtag_info`.

The videos of an entity are list surfaces: `lists.py`.
"""

from dataclasses import replace

from pipelines.platform.parsers import fields, videos
from pipelines.platform.parsers.pages import find_account
from pipelines.platform.parsers.refusals import find_description, refuse_status, says_unknown
from pipelines.platform.refusal_table import refusal_error
from warehouse.records import errors
from warehouse.records.videos import Account, FollowerCountSource, HashtagInfo, Track

_COVERS = ("cover_large", "cover_hd", "cover_medium", "cover_thumb")
_AVATARS = ("avatar_larger", "avatar_medium", "avatar_thumb")


def parse_music_info(body: bytes, music_id: str, context: videos.ParseContext) -> Track:
    """Parse the requested track from `music_info`.

    Raises:
        InvalidMusicInputError: The platform knows no such music id.
        SubstitutionError: The response is another track.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    info = find_description(body, "music_info", surface=context.surface)
    if info is None:
        raise errors.InvalidMusicInputError(
            f"the platform knows no track with the music id {music_id}",
            hint="check the id, or give a share link of the track",
        )
    stated_id = info.id("mid") or info.id("id_str") or info.must_id("id")
    if stated_id != music_id:
        raise errors.SubstitutionError(
            f"requested music {music_id}, got another", surface=context.surface, reason=stated_id
        )
    if "title" not in info.values:
        raise info.missing("title")
    extra = videos.read_extra(info)
    mapped_title, mapped_artist = videos.read_mapped_song(info, extra)
    nickname, source_id = extra.get("owner_nickname"), extra.get("extract_item_id")
    # The id of the video that an original sound was taken from: a number of 19 digits, or a text.
    source_id = str(source_id) if type(source_id) is int else source_id
    is_id = isinstance(source_id, str) and source_id.isascii() and source_id.isdigit()
    if not isinstance(source_id, str) or not is_id or len(source_id) > fields.MAX_ID_LENGTH:
        source_id = None
    uses = videos.read_use_count(info, extra)
    return Track(
        music_id=music_id,
        surface=context.surface,
        observed_at=context.observed_at,
        title=info.name("title"),
        author=info.name("author"),
        owner_nickname=info.name("owner_nickname")
        or (nickname if isinstance(nickname, str) and nickname else None),
        duration_s=info.whole("duration") or None,
        is_original_sound=info.flag("is_original_sound"),
        cover_url=fields.first_picture(info, _COVERS),
        source_aweme_id=None if source_id == "0" else source_id,
        mapped_title=mapped_title,
        mapped_artist=mapped_artist,
        service_track_id=videos.read_service_track_id(extra),
        use_count=uses.value if uses else None,
        use_count_exact=uses.is_exact if uses else None,
        use_count_step=uses.step if uses else None,
    )


def parse_hashtag_info(body: bytes, ch_id: str, context: videos.ParseContext) -> HashtagInfo:
    """Parse the requested hashtag from `hashtag_info`.

    Raises:
        UnresolvedIdError: The platform knows no such hashtag.
        SubstitutionError: The response is another hashtag.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    info = find_description(body, "ch_info", surface=context.surface)
    if info is None:
        raise errors.UnresolvedIdError(
            f"the platform knows no hashtag with the id {ch_id}",
            hint="check the id, or give a share link of the hashtag",
        )
    stated_id = info.must_id("cid")
    if stated_id != ch_id:
        raise errors.SubstitutionError(
            f"requested hashtag {ch_id}, got another", surface=context.surface, reason=stated_id
        )
    if "cha_name" not in info.values:
        raise info.missing("cha_name")
    users, views = fields.read_count(info, "user_count"), fields.read_count(info, "view_count")
    return HashtagInfo(
        ch_id=ch_id,
        surface=context.surface,
        observed_at=context.observed_at,
        name=info.name("cha_name"),
        # An existing hashtag has users and views, so a 0 is a count that is hidden from guests.
        user_count=users.value or None if users else None,
        view_count=views.value or None if views else None,
        is_exact=all(count is None or count.is_exact for count in (users, views)),
    )


def parse_user_info(body: bytes, sec_uid: str, context: videos.ParseContext) -> Account:
    """Parse the requested account from `user_info`.

    Raises:
        UnresolvedIdError: The platform knows no such account.
        SubstitutionError: The response is another account.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    info = _user_info(body, context, _unknown_account(sec_uid))
    stated_id = info.name("sec_uid")
    # Old forms show only the other ids.
    has_id = bool(info.id("uid") or info.id("short_id") or info.name("unique_id"))
    if stated_id is None and not has_id:
        raise info.missing("sec_uid")
    if stated_id not in {None, sec_uid}:
        raise errors.SubstitutionError("the response is another account", surface=context.surface)
    return _account(info, sec_uid, context)


def parse_user_by_handle(body: bytes, handle: str, context: videos.ParseContext) -> Account:
    """Parse the account with a public handle, given with or without its `@`.

    Raises:
        UnresolvedIdError: The platform knows no such account.
        SubstitutionError: The response is another account.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    unknown = errors.UnresolvedIdError(
        "the platform knows no account with this handle", hint="check the handle after the @"
    )
    info = _user_info(body, context, unknown)
    sec_uid = info.name("sec_uid")
    if sec_uid is None:
        raise info.missing("sec_uid")
    # Case does not count: the platform finds a handle in any.
    handles = {name.casefold() for name in (info.name("unique_id"), info.id("short_id")) if name}
    if handle.removeprefix("@").casefold() not in handles:
        raise errors.SubstitutionError("the response is another account", surface=context.surface)
    return _account(info, sec_uid, context)


def parse_account_page(body: bytes, sec_uid: str, context: videos.ParseContext) -> Account:
    """Parse the account of a share page, which shows fewer counts: zeros there mean unknown.

    Raises:
        UnresolvedIdError: The platform knows no such account.
        SubstitutionError: The page shows another account.
        UpstreamError: The page withholds it, or keys or types are unknown.
    """
    page, result = find_account(body, surface=context.surface)
    if says_unknown(result):
        raise _unknown_account(sec_uid)
    refuse_status(result)
    info = result.node("user_info")
    if info is None:
        raise refusal_error(
            "page_without_data",
            "the page contains no account",
            surface=context.surface,
            reason=result.keys_seen(),
        )
    stated_id = info.name("sec_uid") or page.name("lastPath")
    if stated_id is None:
        raise info.missing("sec_uid")
    if stated_id != sec_uid:
        raise errors.SubstitutionError("the response is another account", surface=context.surface)
    account = _account(info, sec_uid, context)
    return replace(
        account,
        follower_count=account.follower_count or None,
        follower_count_source=account.follower_count_source if account.follower_count else None,
        following_count=account.following_count or None,
        aweme_count=account.aweme_count or None,
        total_favorited=account.total_favorited or None,
        favoriting_count=account.favoriting_count or None,
    )


def _user_info(
    body: bytes, context: videos.ParseContext, unknown: errors.UnresolvedIdError
) -> fields.JsonNode:
    answer = fields.parse_json(body, surface=context.surface)
    if says_unknown(answer):
        raise unknown
    refuse_status(answer)
    return answer.must_node("user_info")


def _unknown_account(sec_uid: str) -> errors.UnresolvedIdError:
    return errors.UnresolvedIdError(f"the platform knows no account {sec_uid[:64]}")


def _account(info: fields.JsonNode, sec_uid: str, context: videos.ParseContext) -> Account:
    followers = _exact(info, "follower_count")
    source: FollowerCountSource | None = None if followers is None else "follower_count"
    # Guests may get only the sum over sister platforms, beside no count or a count of 0. A sum of 0
    # is unknown: surfaces that do not show it send 0.
    everywhere = _exact(info, "mplatform_followers_count")
    if not followers and everywhere:
        followers, source = everywhere, "mplatform_followers_count"
    return Account(
        sec_uid=sec_uid,
        surface=context.surface,
        observed_at=context.observed_at,
        uid=info.id("uid"),
        unique_id=info.name("unique_id"),
        short_id=info.id("short_id"),
        nickname=info.name("nickname"),
        signature=info.text("signature"),
        avatar_url=fields.first_picture(info, _AVATARS),
        follower_count=followers,
        follower_count_source=source,
        following_count=_exact(info, "following_count"),
        aweme_count=_exact(info, "aweme_count"),
        total_favorited=_exact(info, "total_favorited"),  # a text on some surfaces
        favoriting_count=_exact(info, "favoriting_count"),
        ip_location=info.name("ip_location"),
    )


def _exact(info: fields.JsonNode, key: str) -> int | None:
    """Return an exact count. An account has no field that marks rounding, so rounded is unknown."""
    count = fields.read_count(info, key)
    return count.value if count is not None and count.is_exact else None
