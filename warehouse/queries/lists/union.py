"""The union of all captures of a list: as of which capture it is shown, and in which order.

Public order: the latest first page, then older members by the capture that last showed them, newest
first. The other orders use what was known of the videos when pagination began, unknown last: what
is learned while a client pages must not move its pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

ListOrder = Literal["public", "likes", "newest"]

GAP_TIMEOUT_S = 30.0
"""A sequence number missing for longer belongs to a capture that was never written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCapture:
    """A capture of a list. `cursor_in` 0: a first page."""

    sequence: int
    outcome: str
    cursor_in: int
    has_more: bool | None
    data_provider: str
    observed_at: datetime
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class ListCaptures:
    """The successful captures of a list, oldest first, up to the one that a union is as of."""

    pages: tuple[ListCapture, ...]

    @property
    def as_of(self) -> ListCapture:
        """The capture that the union is as of."""
        return self.pages[-1]

    @property
    def screens(self) -> list[ListCapture]:
        """The first pages among them."""
        return [page for page in self.pages if page.cursor_in == 0]

    @property
    def latest_screen(self) -> ListCapture | None:
        """The latest first page."""
        return next((page for page in reversed(self.pages) if page.cursor_in == 0), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionMember:
    """A video of a union.

    `first_position`: its position on the latest first page; `recency` grows with the capture that
    last showed it, and falls with its position there.
    """

    aweme_id: str
    first_position: int | None
    recency: int


@dataclass(frozen=True, slots=True)
class VideoSortValues:
    """What was known of a video: likes, and publication in Unix seconds, stated or by its id."""

    likes: int | None = None
    created: int | None = None


def history_at(captures: Iterable[ListCapture], at: datetime | None) -> ListCaptures | None:
    """Return the captures that were committed until a moment, all of them without one.

    None if they showed nothing.
    """
    pages = [one for one in captures if one.outcome == "ok"]
    made = [page for page in pages if at is None or page.committed_at <= at]
    return ListCaptures(tuple(sorted(made, key=lambda page: page.sequence))) if made else None


def history_until(
    captures: Iterable[ListCapture], *, sequence: int | None, now: datetime
) -> ListCaptures | None:
    """Return the captures of a union as of `sequence`; None if that capture showed nothing.

    With `sequence` None, as of the newest capture that no other can precede: a capture takes its
    number a moment before it is written, so a recently missing number may still appear, and would
    move the pages of a client that began beyond it.
    """
    numbered = sorted(captures, key=lambda capture: capture.sequence)
    until = _settled(numbered, now=now) if sequence is None else sequence
    pages = tuple(page for page in numbered if page.outcome == "ok" and page.sequence <= until)
    if not pages or sequence not in {None, pages[-1].sequence}:
        return None
    return ListCaptures(pages)


def sort_members(
    members: Iterable[UnionMember],
    order: ListOrder,
    *,
    known: Mapping[str, VideoSortValues] | None = None,
) -> list[str]:
    """Return the videos of a union in this order; ties and unknown values use the public order."""
    found = known or {}

    def key(member: UnionMember) -> tuple[object, ...]:
        place = member.first_position
        return (
            *sort_key(order, found.get(member.aweme_id, VideoSortValues())),
            place is None, place or 0, -member.recency, member.aweme_id,
        )  # fmt: skip

    return [member.aweme_id for member in sorted(members, key=key)]


def sort_key(order: ListOrder, values: VideoSortValues) -> tuple[bool, int]:
    """Return the key that sorts a video of a list: from most to least, the unknown last."""
    value = _VALUES[order](values)
    return value is None, -(value or 0)


def _settled(numbered: Sequence[ListCapture], *, now: datetime) -> int:
    before = 0
    for capture in numbered:
        is_young = capture.committed_at > now - timedelta(seconds=GAP_TIMEOUT_S)
        if capture.sequence > before + 1 and is_young and before:
            return before
        before = capture.sequence
    return before


_VALUES: Mapping[ListOrder, Callable[[VideoSortValues], int | None]] = {
    "public": lambda _known: 0,
    "likes": lambda known: known.likes,
    "newest": lambda known: known.created,
}
