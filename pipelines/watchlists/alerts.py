"""Alerts: one message about a run to each channel, sent by Apprise in a process of its own.

A run whose changes reach a threshold, or with an entry that could not be checked, has a message. A
failed attempt is repeated after the pauses of `RETRY_AFTER_S`. Not here: the guarded process
(`alert_sender.py`), storage (`warehouse.control.watchlists`), finding changes (`changes.py`).
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from pipelines.documents.messages import FIGURES, Message, stop_message
from pipelines.watchlists.curve import draw_curve
from warehouse.control import ControlStore, watchlists
from warehouse.records.alerts import AlertAttempt, AlertChannel, AlertDelivery, AlertLanguage
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import Document, ReadOnlyDocument

RETRY_AFTER_S = (60.0, 300.0, 1800.0, 7200.0)
"""Pauses between the attempts to send a message; after the last one it is given up."""
TIMEOUT_S = 40.0
CURVE_RUNS = 60
"""Runs that the curve of a message shows, up to the newest."""
LEASE_S = 2 * TIMEOUT_S
"""A process that dies while sending keeps the message from being sent again for this long."""

_SENDER = [sys.executable, "-I", "-B", "-m", "pipelines.watchlists.alert_sender"]
# No proxy, no home with passwords for hosts, no secret of Sametrack.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """A message in one language; `picture` is a PNG for channels that take attachments."""

    title: str
    body: str
    picture: bytes | None = None


class SendAlert(Protocol):
    """Sends one message; a failure is an outcome, not an error."""

    def __call__(self, url: str, message: AlertMessage, /) -> AlertAttempt: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSender:
    """Sends messages to Apprise URLs.

    Attributes:
        networks: Networks that are not public and may be contacted all the same.
        clock: Returns the current time in UTC.
    """

    networks: tuple[str, ...] = ()
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def service_of(self, url: str) -> str:
        """Return the name of the service that a URL leads to, such as Slack. Contacts nothing.

        Raises:
            InvalidParameterError: Apprise does not understand the URL.
        """
        answer = self._ask({"url": url})
        if "service" not in answer:
            raise RuntimeError(f"The process that reads URLs failed: {answer['outcome']}")
        if answer["service"] is None:
            raise InvalidParameterError(
                "`url` is not a URL that Apprise can send to",
                hint="Take the form of the service from the documentation of Apprise, such as "
                "mailtos://user:password@example.com or slack://token/#channel",
            )
        return str(answer["service"])

    def __call__(self, url: str, message: AlertMessage) -> AlertAttempt:
        """Send a message; see `SendAlert`."""
        answer = self._ask(
            {"url": url, "title": message.title, "body": message.body}, picture=message.picture
        )
        return AlertAttempt(at=self.clock(), outcome=answer["outcome"], status=answer.get("status"))

    def _ask(self, request: ReadOnlyDocument, *, picture: bytes | None = None) -> Document:
        """Run the guarded process; its answer has words of its own, never those of a server."""
        with TemporaryDirectory(prefix="sametrack-alert-") as folder:
            attachment = None
            if picture is not None:
                attachment = str(Path(folder, "curve.png"))
                Path(attachment).write_bytes(picture)
            asked = {**request, "networks": list(self.networks), "attachment": attachment}
            inherited = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
            try:
                # The URL is read from standard input: arguments are visible to other users.
                ended = subprocess.run(  # noqa: S603 -- our own program, without arguments
                    _SENDER,
                    input=json.dumps(asked),
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT_S,
                    check=False,
                    cwd=folder,
                    env={**inherited, "HOME": folder},
                )
            except subprocess.TimeoutExpired:
                return {"outcome": "timeout"}
        with suppress(json.JSONDecodeError):
            answer: Document = json.loads(ended.stdout)
            return answer
        return {"outcome": "unknown"}


def send_due(
    control: ControlStore,
    run_id: str,
    digest: ReadOnlyDocument,
    *,
    send: SendAlert,
    console_url: str | None,
) -> None:
    """Send the messages about a run that are due, and store each attempt."""
    deliveries = watchlists.take_due_alerts(control, run_id, lease_s=LEASE_S)
    if not deliveries:
        return
    runs = watchlists.newest_runs(control, digest["watchlist"], limit=CURVE_RUNS, with_digest=True)
    earlier = [run.digest for run in reversed(runs) if run.digest is not None]
    for delivery in deliveries:
        channel = watchlists.get_channel(control, delivery.channel)
        if channel is None:  # deleted since
            continue
        message = build_message(digest, channel.language, digests=earlier, console_url=console_url)
        _save_attempt(control, delivery, send(channel.url, message))


def _save_attempt(control: ControlStore, delivery: AlertDelivery, attempt: AlertAttempt) -> None:
    made = len(delivery.attempts)
    # What Apprise does not understand now, it will not understand later.
    is_last = made > len(RETRY_AFTER_S) or attempt.outcome == "invalid_channel"
    if attempt.outcome == "sent":
        watchlists.save_alert_attempt(control, delivery, attempt, status="sent", retry_after_s=None)
    elif is_last:
        watchlists.save_alert_attempt(
            control, delivery, attempt, status="failed", retry_after_s=None
        )
    else:
        pause = RETRY_AFTER_S[made - 1]
        watchlists.save_alert_attempt(
            control, delivery, attempt, status="waiting", retry_after_s=pause
        )


def send_test(control: ControlStore, channel: AlertChannel, *, send: SendAlert) -> AlertAttempt:
    """Send a test message to a channel, and store its outcome."""
    language = channel.language
    attempt = send(
        channel.url,
        AlertMessage(title=_TEST_TITLE.text(language), body=_TEST_BODY.text(language)),
    )
    watchlists.save_channel_test(control, channel.name, attempt)
    return attempt


# The message.

_TEST_TITLE = Message("Sametrack: test", "Sametrack：测试")
_TEST_BODY = Message(
    "This channel receives the alerts of the watchlists.", "监控清单的提醒将发送到此渠道。"
)
_DEMO = Message("[Demo data] ", "【演示数据】")
_TITLE = Message("Sametrack · {name}: {count}", "Sametrack · {name}：{count}")
_ALERTS = Message("{number} alerts", "{number} 项提醒")
_ONE_ALERT = Message("1 alert", "1 项提醒")
_FAILED = Message("Could not be checked: {reason}", "检查失败：{reason}")
_FAILED_ENTRIES = Message("{number} not checked", "{number} 项检查失败")
_MORE = Message("… and {number} more", "……另有 {number} 项")
_FIGURE = Message("{name}: {after} ({change})", "{name}：{after}（{change}）")
_KINDS: Mapping[str, Message] = {
    "track": Message("Track", "音乐"),
    "account": Message("Account", "账号"),
    "hashtag": Message("Hashtag", "话题"),
}
_LINES: Mapping[str, Message] = {
    "usage_growth": Message(
        "Usage grows by {percent_per_day} % a day: {before} → {after}",
        "使用量日增 {percent_per_day}%：{before} → {after}",
    ),
    "reached_likes": Message("“{title}” has reached {after} likes", "“{title}”点赞数已达 {after}"),
    "new_creators": Message(
        "New creator: {nickname}, {follower_count} followers",
        "新创作者：{nickname}，粉丝 {follower_count}",
    ),
    "disappeared_works": Message(
        "“{title}” is no longer shown by the platform ({reason})",
        "平台已不再展示“{title}”（{reason}）",
    ),
    "fast_works": Message(
        "“{title}” gains {velocity} hot score a day", "“{title}”热度每日增长 {velocity}"
    ),
    "rank_changes": Message(
        "“{title}” moved from rank {before} to {after}",
        "“{title}”排名由第 {before} 名变为第 {after} 名",
    ),
    "new_music_ids": Message(
        "Another sound carries the recording: {music_id} ({work_count} videos)",
        "出现使用同一录音的新音乐：{music_id}（{work_count} 个作品）",
    ),
}
"""The changes that a message names, in its order, each with the line of one."""
_CURVES = ("use_count", "hot_score_sum", "follower_count", "view_count", "confirmed_count")
_PICTURE = Message("Picture: {title}, {figure}", "附图：{title}，{figure}")
_MOST_LINES = 5
_MOST_SIGNS = 80


def needs_alert(digest: ReadOnlyDocument) -> bool:
    """Return True if a change reaches a threshold, or an entry could not be checked."""
    return bool(digest["failed_count"]) or any(
        entry["changes"] and _count_alerts(entry["changes"]) for entry in digest["entries"]
    )


def build_message(
    digest: ReadOnlyDocument,
    language: AlertLanguage,
    *,
    digests: Sequence[ReadOnlyDocument] = (),
    console_url: str | None = None,
) -> AlertMessage:
    """Build the message about a run: its alerts by entry, with the figures that changed.

    Args:
        digest: The digest of the run.
        language: The language of the message.
        digests: Those of the newest runs, oldest first, for the curve.
        console_url: The address of the console.
    """
    number = sum(_count_alerts(entry["changes"]) for entry in digest["entries"] if entry["changes"])
    count = (_ONE_ALERT if number == 1 else _ALERTS).text(language).format(number=number)
    if digest["failed_count"]:
        failed = _FAILED_ENTRIES.text(language).format(number=digest["failed_count"])
        count = f"{count}, {failed}" if language == "en" else f"{count}，{failed}"
    title = _TITLE.text(language).format(name=digest["watchlist"], count=count)
    blocks = [
        "\n".join(lines)
        for entry in digest["entries"]
        if len(lines := list(_lines_of_entry(entry, language))) > 1
    ]
    picture = None
    for entry, name in _curve_candidates(digest):
        picture = draw_curve(_points(digests, entry, name), is_demo=digest["is_demo_data"])
        if picture is not None:
            values = {"title": _title(entry), "figure": FIGURES[name].text(language)}
            blocks.append(_PICTURE.text(language).format(**values))
            break
    if console_url is not None:
        blocks.append(f"{console_url.rstrip('/')}#/watchlists?list={digest['watchlist']}")
    demo = _DEMO.text(language) if digest["is_demo_data"] else ""
    return AlertMessage(title=f"{demo}{title}", body="\n\n".join(blocks), picture=picture)


def _curve_candidates(digest: ReadOnlyDocument) -> Iterator[tuple[ReadOnlyDocument, str]]:
    """Yield the figures of which a message may show the curve, the most telling first."""
    for entry in digest["entries"]:
        changes = entry["changes"]
        if changes is not None and _count_alerts(changes):
            names = [figure["name"] for figure in changes["figures"]]
            yield from ((entry, name) for name in _CURVES if name in names)


def _points(
    digests: Sequence[ReadOnlyDocument], entry: ReadOnlyDocument, name: str
) -> list[tuple[datetime, int]]:
    return [
        (datetime.fromisoformat(same["observed_at"]), figure["after"])
        for digest in digests
        for same in digest["entries"]
        if (same["kind"], same["subject"]) == (entry["kind"], entry["subject"])
        for figure in (same["changes"] or {}).get("figures", ())
        if figure["name"] == name and figure["after"] is not None
    ]


def _count_alerts(changes: ReadOnlyDocument) -> int:
    # Digests of earlier versions lack some of the lists.
    return sum(len(changes.get(name, ())) for name in _LINES)


def _lines_of_entry(entry: ReadOnlyDocument, language: AlertLanguage) -> Iterator[str]:
    kind = _KINDS[entry["kind"]].text(language)
    yield f"{kind} · {_title(entry)}"
    if entry["error"] is not None:
        reason = stop_message(entry["error"]["type"]).text(language)
        yield _FAILED.text(language).format(reason=reason)
    changes = entry["changes"]
    if changes is None or not _count_alerts(changes):
        return
    for name, line in _LINES.items():
        listed = changes.get(name, ())
        for change in listed[:_MOST_LINES]:
            yield f"- {line.text(language).format(**_values(change))}"
        if len(listed) > _MOST_LINES:
            more = _MORE.text(language).format(number=len(listed) - _MOST_LINES)
            yield f"- {more}"
    for figure in changes["figures"]:
        if figure["change"]:
            yield _FIGURE.text(language).format(
                name=FIGURES[figure["name"]].text(language),
                after=f"{figure['after']:,}",
                change=f"{figure['change']:+,}",
            )


def _title(entry: ReadOnlyDocument) -> str:
    return _plain(entry["title"] or entry["input"])


def _values(change: ReadOnlyDocument) -> dict[str, str]:
    """Return the values of a change as text; a name that is unknown is replaced by the id."""
    values = {
        name: _plain(value) if isinstance(value, str) else f"{value:,.0f}"
        for name, value in change.items()
        if isinstance(value, str | int | float)
    }
    values["title"] = values.get("title") or str(change.get("aweme_id"))
    values["nickname"] = values.get("nickname") or str(change.get("sec_uid"))
    return values


def _plain(text: str) -> str:
    """Return text of the platform on one line, without signs that mention somebody in a chat."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text).replace("@", "＠")
    return printable if len(printable) <= _MOST_SIGNS else f"{printable[: _MOST_SIGNS - 1]}…"
