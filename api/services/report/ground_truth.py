"""Compares a sandbox scan with its ground truth, by link type. Pure functions.

Only the sandbox has a ground truth, so this is never part of a result on real data. Two questions
are answered separately for each confirmed video: is its label true, and does it play the recording?
A muted video under the track's music id has a true label, because `exact_music_id` claims the music
id alone, and does not play the recording. There is no figure over all link types: `exact_music_id`
rests on an id, the others on audio matching.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import get_args

from pipelines.documents.result_types import LinkType
from warehouse.records.values import Document, ReadOnlyDocument

LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)
RECALL_GOAL = 0.95
MATCH_PRECISION_GOAL = 1.0
"""Goal for links by audio. Links by id have no goal, because their audio is not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundTruthVideo:
    """A public video related to the recording by its music id or by its sound.

    `sound` compares what it plays with what its music id names (`as_named`, `muted`, `replaced`,
    ...). `kind` says how the sound of its music id was made, `names_recording` whether that sound
    carries the recording. `is_reachable`: a surface that a guest can read leads to it.
    """

    aweme_id: str
    music_id: str
    kind: str
    sound: str
    names_recording: bool
    carries_recording: bool
    is_variant: bool
    is_reachable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FalsePositive:
    """A confirmed video without the recording, and what it plays instead.

    `is_label_true`: the claim of its link type holds, for example the same music id.
    """

    aweme_id: str
    link_type: LinkType
    sound: str
    is_label_true: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkJudgement:
    """The confirmed videos of one link type compared with the ground truth.

    `true_label_count` counts the confirmed videos whose label is true, `right_count` those with the
    recording. `carrying_count` counts public videos with the recording that could have this link
    type: under the track's own music id for `exact_music_id`, under any other id for the two other
    types, which share them. A ratio is None without videos.
    """

    link_type: LinkType
    confirmed_count: int
    true_label_count: int
    right_count: int
    right_reachable_count: int
    carrying_count: int
    reachable_count: int

    @property
    def label_precision(self) -> float | None:
        """Share of the confirmed videos of this type whose label is true."""
        return _share(self.true_label_count, self.confirmed_count)

    @property
    def precision(self) -> float | None:
        """Share of the confirmed videos of this type that have the recording."""
        return _share(self.right_count, self.confirmed_count)

    @property
    def recall(self) -> float | None:
        """Share of the possible videos of this link type that were confirmed with it."""
        return _share(self.right_count, self.carrying_count)

    @property
    def recall_reachable(self) -> float | None:
        """Like `recall`, for videos that a guest can reach."""
        return _share(self.right_reachable_count, self.reachable_count)

    def to_document(self) -> Document:
        """Return plain JSON values."""
        return {
            "link_type": self.link_type,
            "confirmed_count": self.confirmed_count,
            "true_label_count": self.true_label_count,
            "label_precision": self.label_precision,
            "right_count": self.right_count,
            "carrying_count": self.carrying_count,
            "reachable_count": self.reachable_count,
            "precision": self.precision,
            "recall": self.recall,
            "recall_reachable": self.recall_reachable,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecall:
    """Recall over all link types, for videos under one group of music ids."""

    carrying_count: int
    found_count: int
    reachable_count: int
    found_reachable_count: int

    @property
    def share(self) -> float | None:
        """Recall of all public videos."""
        return _share(self.found_count, self.carrying_count)

    @property
    def share_reachable(self) -> float | None:
        """Recall of the videos that a guest can reach."""
        return _share(self.found_reachable_count, self.reachable_count)

    @property
    def is_good(self) -> bool:
        """Whether the recall goal was reached for reachable videos."""
        return self.share_reachable is None or self.share_reachable >= RECALL_GOAL

    def to_document(self) -> Document:
        """Return plain JSON values."""
        return {
            "carrying_count": self.carrying_count,
            "found_count": self.found_count,
            "reachable_count": self.reachable_count,
            "recall": self.share,
            "recall_reachable": self.share_reachable,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A confirmed set compared with the ground truth.

    `links` has one entry per link type. `own_id` and `other_ids` are the recall under the track's
    own music id, and under all others together.
    """

    links: tuple[LinkJudgement, ...]
    own_id: GroupRecall
    other_ids: GroupRecall
    wrong: tuple[FalsePositive, ...]
    missed: tuple[GroundTruthVideo, ...]
    variant_count: int
    variants_matched: int
    variants_confirmed: int

    def of(self, link_type: LinkType) -> LinkJudgement:
        """Return the comparison of one link type."""
        return next(link for link in self.links if link.link_type == link_type)

    @property
    def is_good(self) -> bool:
        """Whether the scan reached its goals for labels, precision by audio and recall under all
        music ids.
        """
        # A link by music id has no precision goal: its audio is not compared.
        precision = self.of("audio_fingerprint_match").precision
        return (
            all(link.true_label_count == link.confirmed_count for link in self.links)
            and (precision is None or precision >= MATCH_PRECISION_GOAL)
            and any(link.right_count for link in self.links)
            and self.own_id.is_good
            and self.other_ids.is_good
        )

    def to_document(self) -> Document:
        """Return plain JSON values."""
        return {
            "by_link_type": [link.to_document() for link in self.links],
            "under_own_music_id": self.own_id.to_document(),
            "under_other_music_ids": self.other_ids.to_document(),
            "wrong": [asdict(video) for video in self.wrong],
            "missed": [
                {"aweme_id": video.aweme_id, "kind": video.kind, "is_reachable": video.is_reachable}
                for video in self.missed
            ],
            "variant_count": self.variant_count,
            "variants_heard": self.variants_matched,
            "variants_confirmed": self.variants_confirmed,
            "goals_met": self.is_good,
        }


def judge(
    music_id: str,
    confirmed: Iterable[ReadOnlyDocument],
    variants: Iterable[ReadOnlyDocument],
    videos: Iterable[GroundTruthVideo],
) -> Judgement:
    """Compare what a scan confirmed with the ground truth.

    Args:
        music_id: Music id of the track.
        confirmed: The complete confirmed set, each with `aweme_id` and `link_type`.
        variants: The variants found, each with `aweme_id`.
        videos: The ground truth; any other video is unrelated to the recording.
    """
    truth = {video.aweme_id: video for video in videos}
    links: dict[str, LinkType] = {video["aweme_id"]: video["link_type"] for video in confirmed}
    carrying = [video for video in truth.values() if video.carries_recording]
    own = [video for video in carrying if video.music_id == music_id]
    others = [video for video in carrying if video.music_id != music_id]
    variant_ids = {video.aweme_id for video in truth.values() if video.is_variant}
    true_labels = {
        aweme_id
        for aweme_id, link_type in links.items()
        if aweme_id in truth and _is_label_true(link_type, truth[aweme_id], music_id)
    }

    # Confirmed without the recording: with the word for what the video plays instead.
    wrong: list[FalsePositive] = []
    for aweme_id in sorted(links.keys() - {video.aweme_id for video in carrying}):
        video = truth.get(aweme_id)
        if video is None:
            sound = "unrelated"
        else:
            sound = video.kind if video.sound == "as_named" else video.sound
        wrong.append(
            FalsePositive(
                aweme_id=aweme_id,
                link_type=links[aweme_id],
                sound=sound,
                is_label_true=aweme_id in true_labels,
            )
        )
    missed = [video for video in carrying if video.aweme_id not in links]
    return Judgement(
        links=tuple(
            _judge_link(name, links, true_labels, own if name == "exact_music_id" else others)
            for name in LINK_TYPES
        ),
        own_id=_recall(own, links),
        other_ids=_recall(others, links),
        wrong=tuple(wrong),
        missed=tuple(sorted(missed, key=lambda video: video.aweme_id)),
        variant_count=len(variant_ids),
        variants_matched=len(variant_ids & {video["aweme_id"] for video in variants}),
        variants_confirmed=len(variant_ids & links.keys()),
    )


def _is_label_true(link_type: LinkType, video: GroundTruthVideo, music_id: str) -> bool:
    """Return whether the claim of a link type holds for a video.

    `exact_music_id` names the track's music id. `verified_music_id_graph` names another one whose
    sound carries the recording. `audio_fingerprint_match` plays the recording itself.
    """
    if link_type == "exact_music_id":
        return video.music_id == music_id
    if link_type == "verified_music_id_graph":
        return video.music_id != music_id and video.names_recording
    return video.music_id != music_id and video.carries_recording


def _judge_link(
    link_type: LinkType,
    links: Mapping[str, LinkType],
    true_labels: AbstractSet[str],
    carrying: list[GroundTruthVideo],
) -> LinkJudgement:
    right = [video for video in carrying if links.get(video.aweme_id) == link_type]
    return LinkJudgement(
        link_type=link_type,
        confirmed_count=sum(name == link_type for name in links.values()),
        true_label_count=sum(links[name] == link_type for name in true_labels),
        right_count=len(right),
        right_reachable_count=sum(video.is_reachable for video in right),
        carrying_count=len(carrying),
        reachable_count=sum(video.is_reachable for video in carrying),
    )


def _recall(carrying: list[GroundTruthVideo], links: Mapping[str, LinkType]) -> GroupRecall:
    confirmed = [video for video in carrying if video.aweme_id in links]
    return GroupRecall(
        carrying_count=len(carrying),
        found_count=len(confirmed),
        reachable_count=sum(video.is_reachable for video in carrying),
        found_reachable_count=sum(video.is_reachable for video in confirmed),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def to_ground_truth_videos(document: ReadOnlyDocument) -> tuple[GroundTruthVideo, ...]:
    """Return the public videos of a ground-truth document.

    Its `works` has one document per related video.
    """
    return tuple(
        GroundTruthVideo(
            aweme_id=video["aweme_id"],
            music_id=video["music_id"],
            kind=video["kind"],
            sound=video["sound"],
            names_recording=video["relation"] == "same",
            carries_recording=video["carries_recording"],
            is_variant=video["heard"] == "variant",
            # A guest reaches a video that appears in some round over confirmed music ids.
            is_reachable=video["round"] is not None,
        )
        for video in document["works"]
        if video["is_public"]
    )
