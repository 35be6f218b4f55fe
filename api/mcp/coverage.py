"""The coverage that every tool returns with its data. Pure functions."""

from warehouse.records.values import Document, ReadOnlyDocument

TOOL_COVERAGE_NOTE = (
    "Public pages only, as a guest sees them; never a full enumeration of the platform. "
    "null means unknown, never zero."
)
_COVERAGE_FIELDS = (
    "coverage_complete",
    "count_satisfied",
    "count_note_zh",
    "confirmed_count",
    "returned_count",
    "statistics_complete",
    "has_more",
    "platform_has_more",
    "public_first_screen_count",
    "public_observed_union_count",
    "observation_history",
    "observed_at",
    "data_provider",
    "is_demo_data",
    "not_collected_count",
    "coverage",
)


def coverage_of(data: ReadOnlyDocument) -> Document:
    """Collect the coverage fields of a response, with the note that always applies."""
    coverage = {name: data[name] for name in _COVERAGE_FIELDS if name in data}
    if "filter_list" in data:
        coverage["not_read"] = [
            {"aweme_id": video["aweme_id"], "reason": video["reason"]}
            for video in data["filter_list"]
        ]
    # Also where the service says nothing about it: no list of the platform is complete.
    return {**coverage, "coverage_complete": False, "note": TOOL_COVERAGE_NOTE}


def shorten_result(result: ReadOnlyDocument, *, top: int) -> Document:
    """Shorten a scan result for an assistant: at most `top` items of each list.

    The counts beside a list stay those of the whole list.
    """
    short = {name: value for name, value in result.items() if name != "aweme_list"}
    short["aweme_list"] = list(result.get("aweme_list", [])[:top])
    for name in ("candidates", "reference_works"):  # of a discovery
        if name in short:
            short[name] = short[name][:top]
    coverage = short.get("coverage") or {}
    if coverage.get("audit"):
        audit = {**coverage["audit"], "videos": coverage["audit"]["videos"][:top]}
        short["coverage"] = {**coverage, "audit": audit}
    for name in ("search_related", "variants"):
        if short.get(name):
            short[name] = {**short[name], "aweme_list": short[name]["aweme_list"][:top]}
    # The previews repeat videos of the ranking.
    if short.get("account_summary"):
        accounts = [
            {name: value for name, value in account.items() if name != "video_previews"}
            for account in short["account_summary"]["accounts"][:top]
        ]
        short["account_summary"] = {**short["account_summary"], "accounts": accounts}
    return short
