"""Parser of `hashtag_info`: one hashtag. Its videos are a list surface: `lists.py`."""

from pipelines.platform.parsers.fields import JsonNode, read_count
from pipelines.platform.parsers.refusals import find_description
from pipelines.platform.parsers.videos import ParseContext
from warehouse.records.errors import SubstitutionError, UnresolvedIdError
from warehouse.records.videos import HashtagInfo


def parse_hashtag_info(body: bytes, ch_id: str, seen: ParseContext) -> HashtagInfo:
    """Parse the requested hashtag.

    Raises:
        UnresolvedIdError: The platform knows no such hashtag.
        SubstitutionError: The response is another hashtag.
        UpstreamError: The surface refuses, or keys or types are unknown.
    """
    info = find_description(body, "ch_info", surface=seen.surface)
    if info is None:
        raise UnresolvedIdError(
            f"the platform knows no hashtag with the id {ch_id}",
            hint="check the id, or give a share link of the hashtag",
        )
    found = info.must_id("cid")
    if found != ch_id:
        raise SubstitutionError(
            f"requested hashtag {ch_id}, got another", surface=seen.surface, reason=found
        )
    return _hashtag(info, ch_id, seen)


def _hashtag(info: JsonNode, ch_id: str, seen: ParseContext) -> HashtagInfo:
    """Convert a hashtag. An existing one has users, so a 0 is a count hidden from guests (None)."""
    if not info.has("cha_name"):
        raise info.missing("cha_name")
    users, views = read_count(info, "user_count"), read_count(info, "view_count")
    return HashtagInfo(
        ch_id=ch_id,
        surface=seen.surface,
        observed_at=seen.observed_at,
        name=info.name("cha_name"),
        user_count=users.value or None if users else None,
        view_count=views.value or None if views else None,
        is_exact=all(count is None or count.is_exact for count in (users, views)),
    )
