"""Substitution fault: replaces the ids of a request by other ids of the same kind.

What belongs here: how a request is changed so that the surfaces answer for another video, track,
account, hashtag, term or issue. The surfaces themselves know nothing of it.
"""

import re
from urllib.parse import parse_qs, quote, unquote, urlencode

from starlette.types import Scope

from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.world.world import SandboxWorld

CHART_PLACE = "sandbox_chart_place"
"""Key in the scope with the position of the issue that a chart surface shows instead."""
_NUMBER = re.compile(r"[0-9]{19}")
_OTHER_WORDS = "今天的晚霞"


async def substitute(scope: Scope, surface: str, platform: SandboxPlatform) -> None:
    """Change a request in place so that it names another entity of the same kind."""
    if surface.startswith("chart"):
        scope[CHART_PLACE] = max(0, _asked_place(scope, platform) - 1)
        return
    others = list((await platform.directory()).hashtags) if surface.startswith("hashtag") else []
    query = unquote(scope["query_string"].decode("latin-1"))
    scope["path"] = _other_ids(scope["path"], platform.world, others)
    scope["query_string"] = quote(_other_ids(query, platform.world, others), safe="=&").encode()
    if surface.startswith("search"):
        scope["query_string"] = urlencode({"keyword": _OTHER_WORDS}).encode()


def _asked_place(scope: Scope, platform: SandboxPlatform) -> int:
    """Return the position of the requested issue, or of the latest one."""
    calendar = platform.chart.calendar
    fields = parse_qs(scope["query_string"].decode("latin-1"))
    in_path = re.search(r"-([0-9]+)\.html", scope["path"])
    volid = fields.get("volid", [in_path[1] if in_path else ""])[0]
    issue = calendar.find(volid)
    return platform.issue_count - 1 if issue is None else issue.place


def _other_ids(text: str, world: SandboxWorld, hashtags: list[str]) -> str:
    def other(found: re.Match[str]) -> str:
        work, sound = world.video_of_id(found[0]), world.sound_of(found[0])
        if work is not None:
            return str(world.works.aweme_id[(work.index + 1) % len(world.works)])
        if sound is not None:
            return str(world.sounds.music_id[(sound.index + 1) % len(world.sounds)])
        if found[0] in hashtags:
            return hashtags[(hashtags.index(found[0]) + 1) % len(hashtags)]
        return found[0]

    text = _NUMBER.sub(other, text)
    for index in range(world.account_count):
        if world.sec_uid(index) in text:
            following = world.sec_uid((index + 1) % world.account_count)
            return text.replace(world.sec_uid(index), following)
    return text
