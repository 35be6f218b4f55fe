"""Convert records to JSON documents: any by its names; videos, tracks and evidence by ours.

Names are the platform's own (`aweme_id`, `digg_count`, ...). Unknown is null, never 0; times are
ISO 8601 in UTC; ids are text.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import partial
from typing import cast, overload

from pipelines.documents import result_types
from warehouse.records.evidence import Comparison, SearchedRange, variant_kind
from warehouse.records.times import SoundOrigin
from warehouse.records.videos import Statistics, Track, Video, own_sound_origin

SOURCE_CHANNEL_ZH: dict[result_types.LinkType, str] = {
    "exact_music_id": "输入音乐链（同一音乐 ID）",
    "audio_fingerprint_match": "关联音乐链（作品音频核验通过）",
    "verified_music_id_graph": "关联音乐链（音乐 ID 已核验）",
}


@overload
def to_time(moment: datetime) -> str: ...
@overload
def to_time(moment: datetime | None) -> str | None: ...
def to_time(moment: datetime | None) -> str | None:
    """Format as ISO 8601 in UTC with `Z`, to the second. None stays None."""
    if moment is None:
        return None
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def to_document[Kind](kind: type[Kind], record: object, /, **others: object) -> Kind:
    """Build a document of this type from the fields of a record or a row that have its names.

    `to_document(ComparedVideo, row)` reads the columns that `ComparedVideo` declares from `row`.

    Args:
        kind: A `TypedDict`.
        record: A dataclass, or a mapping by name. Times become text, tuples lists.
        others: Values of fields that the record lacks, or has in another form.
    """
    read = record.__getitem__ if isinstance(record, Mapping) else partial(getattr, record)
    document = {}
    for name in kind.__annotations__:
        value = others[name] if name in others else read(name)
        # By exact type: a `datetime` is also a `date`, and a named tuple stays what it is.
        encode = _PLAIN.get(type(value))
        document[name] = value if encode is None else encode(value)
    return cast("Kind", document)


_PLAIN: Mapping[type, Callable[..., object]] = {
    datetime: to_time,
    date: date.isoformat,
    tuple: list,
}


def to_video_document(video: Video) -> result_types.VideoDocument:
    """Build the video record of the interface, without the fields of a ranking.

    Without a time of the first observation, this observation is the first.
    """
    birth, music_birth = video.birth, video.music_birth
    author, music = video.author, video.music
    return {
        "aweme_id": video.aweme_id,
        "desc": video.desc,
        "create_time": video.create_time,
        "created_at": to_time(birth.at) if birth else None,
        "created_at_source": birth.source if birth else None,
        "created_at_difference_s": birth.difference_s if birth else None,
        "share_url": video.share_url,
        "media_type": video.media_type,
        "is_top": video.is_top,
        "author": None
        if author is None
        else {
            "sec_uid": author.sec_uid,
            "uid": author.uid,
            "unique_id": author.unique_id,
            "nickname": author.nickname,
            "avatar_thumb": _addresses(author.avatar_url),
        },
        "music": None
        if music is None
        else {
            "id_str": music.music_id,
            "mid": music.music_id,
            "title": music.title,
            "author": music.author,
            "duration": music.duration_s,
            "is_original_sound": music.is_original_sound,
            "created_at": to_time(music_birth.at) if music_birth else None,
            "created_at_source": music_birth.source if music_birth else None,
            "born_with": _origin_document(own_sound_origin(video)),
            "use_count": music.use_count,
            "use_count_exact": music.use_count_exact,
            "use_count_observed_at": _count_time(music.use_count, video.observed_at),
        },
        "video": {
            "duration": video.duration_ms,
            "width": video.width,
            "height": video.height,
            "cover": _addresses(video.cover_url),
        },
        "images_count": video.images_count,
        "hashtags": None
        if video.hashtags is None
        else [{"ch_id": tag.ch_id, "name": tag.name} for tag in video.hashtags],
        "statistics": to_document(result_types.StatisticsDocument, video.statistics),
        "statistics_complete": video.statistics_complete,
        "statistics_source": video.statistics_source,
        "observed_at": to_time(video.observed_at),
        "first_observed_at": to_time(video.first_observed_at or video.observed_at),
    }


def to_ranked_document(
    video: Video,
    *,
    link_type: result_types.LinkType,
    source_music_id: str,
    source_music_url: str | None = None,
    comparison: Comparison | None = None,
) -> result_types.LinkedVideo:
    """Build an entry of `StoredResult.ranked`: a confirmed video with its link to the track.

    `view_result` adds `rank`, `hot_score` and `is_viral`, which depend on the request.
    `source_music_url` is the public link of `source_music_id`; the caller builds it because the
    host depends on the profile. `comparison` is the evidence of an audio link.

    Raises:
        ValueError: An audio link without evidence, or evidence on an exact link.
    """
    if (comparison is None) != (link_type == "exact_music_id"):
        raise ValueError(f"link_type {link_type} of {video.aweme_id} and its evidence disagree")
    document: result_types.LinkedVideo = {
        **to_video_document(video),  # type: ignore[typeddict-item]  # a video has no evidence
        "link_type": link_type,
        "source_music_id": source_music_id,
        "source_channel_zh": SOURCE_CHANNEL_ZH[link_type],
        "source_music_title": video.music.title if video.music else None,
        "source_music_url": source_music_url,
    }
    if comparison is not None:
        document["evidence"] = to_evidence_document(comparison)
    return document


def to_variant_document(
    video: Video,
    *,
    comparison: Comparison,
    source_music_id: str,
    source_music_url: str | None = None,
) -> result_types.ShiftedVideo:
    """Build an entry of `variants.aweme_list`: the recording changed, or a few seconds of it."""
    pair = comparison.pair
    assert pair.speed is not None, "a variant was compared at some speed"
    assert pair.semitones is not None, "and at some pitch"
    return {
        **to_video_document(video),  # type: ignore[typeddict-item]  # `audio_check` comes on reading
        "variant_kind": variant_kind(pair),
        "speed": pair.speed,
        "semitones": pair.semitones,
        "source_music_id": source_music_id,
        "source_music_title": video.music.title if video.music else None,
        "source_music_url": source_music_url,
        "evidence": to_evidence_document(comparison),
    }


def to_version_document(
    video: Video, *, comparison: Comparison, source_music_id: str, source_music_url: str
) -> result_types.VersionVideo:
    """Build an entry of `versions.aweme_list`: another performance of the composition."""
    score = comparison.pair.version_score
    assert score is not None, "a version was measured"
    return {
        **to_video_document(video),
        "version_score": score,
        "source_music_id": source_music_id,
        "source_music_title": video.music.title if video.music else None,
        "source_music_url": source_music_url,
        "evidence": to_evidence_document(comparison),
    }


def to_evidence_document(comparison: Comparison) -> result_types.EvidenceDocument:
    """Build the evidence of one compared pair with the limits it was judged by.

    `peak_agreement` is included because it explains the score.
    """
    pair = comparison.pair
    return {
        "comparison_id": comparison.comparison_id,
        "reference_kind": comparison.reference_kind,
        "reference_aweme_id": comparison.reference_video_id,
        "reference_service_track_id": comparison.reference_service_track_id,
        "candidate_aweme_id": comparison.candidate_aweme_id,
        "reference_music_id": comparison.reference_music_id,
        "candidate_music_id": comparison.candidate_music_id,
        "verdict": pair.verdict,
        "reason": pair.reason,
        "segment": pair.segment,
        "chroma_distance": pair.chroma_distance,
        "mfcc_distance": pair.mfcc_distance,
        "overlap_s": pair.overlap_s,
        "reference_start_s": pair.reference_start_s,
        "candidate_start_s": pair.candidate_start_s,
        "peak_agreement": pair.peak_agreement,
        "score": pair.score,
        "speed": pair.speed,
        "semitones": pair.semitones,
        "observation": pair.observation,
        "relation": pair.relation,
        "shared_part": pair.shared_part,
        "version_score": pair.version_score,
        "searched": _searched_document(pair.searched),
        "limits": asdict(comparison.limits),
        "algorithm": comparison.algorithm,
        "feature_version": comparison.feature_version,
        "library_version": comparison.library_version,
        "reference_source": comparison.reference_source,
    }


def _searched_document(searched: SearchedRange | None) -> result_types.SearchedDocument | None:
    if searched is None:
        return None
    return {
        "speed": list(searched.speed),
        "tempo": list(searched.tempo),
        "semitones": list(searched.semitones),
        "tempo_with_pitch": list(searched.tempo_with_pitch),
        "min_overlap_s": searched.min_overlap_s,
        "min_excerpt_s": searched.min_excerpt_s,
        "reference_s": searched.reference_s,
        "candidate_s": searched.candidate_s,
    }


def to_track_document(
    track: Track, *, origin: SoundOrigin | None = None
) -> result_types.TrackDocument:
    """Build the `music` of a result: the requested track as last observed.

    `origin` is the video that an original sound was born with.
    """
    birth = track.birth
    return {
        "id_str": track.music_id,
        "mid": track.music_id,
        "title": track.title,
        "author": track.author,
        "owner_nickname": track.owner_nickname,
        "duration": track.duration_s,
        "is_original_sound": track.is_original_sound,
        "created_at": to_time(birth.at) if birth else None,
        "created_at_source": birth.source if birth else None,
        "born_with": _origin_document(origin),
        "use_count": track.use_count,
        "use_count_exact": track.use_count_exact,
        "use_count_observed_at": _count_time(track.use_count, track.observed_at),
        "cover": _addresses(track.cover_url),
        "observed_at": to_time(track.observed_at),
    }


def to_statistics(document: result_types.VideoDocument) -> Statistics:
    """Convert the four counts of a video document back to a record."""
    return Statistics(**document["statistics"])


def _origin_document(origin: SoundOrigin | None) -> result_types.SoundOriginDocument | None:
    if origin is None:
        return None
    return {"aweme_id": origin.aweme_id, "source": origin.source, "offset_s": origin.offset_s}


def _count_time(count: int | None, observed_at: datetime) -> str | None:
    return None if count is None else to_time(observed_at)


def _addresses(url: str | None) -> result_types.ImageUrls:
    """Wrap an address in a list as the platform does; clients read the first element."""
    return {"url_list": [url] if url else []}
