"""The star: views over the tables of the lake, around tracks, music ids, videos, accounts, days.

A view stores nothing, so it is never out of date and holds `as of` times. Its statement is the file
of the same name in `warehouse/models`. Dimensions have one row per thing; facts refer to them.
"""

from functools import partial

from warehouse.tables.column import (
    BOOLEAN,
    COUNT_COLUMNS,
    DATE,
    FLOAT,
    INTEGER,
    TEXT,
    TEXT_LIST,
    TIME,
    Table,
    nullable,
    refer,
    required,
)

_view = partial(Table, is_view=True)
_TRACK = required("track_music_id", TEXT, "track, by the music id that was scanned")
_VIDEO = required("aweme_id", TEXT, "video")
_ACCOUNT = required("sec_uid", TEXT, "account")
_AUTHOR = nullable("sec_uid", TEXT, "author")
_DAY = required("day", DATE, "day (UTC)")
_OBSERVATIONS = required("observation_count", INTEGER, "observations")
_FIRST = nullable("first_observed_at", TIME, "first observation")
_LAST = nullable("last_observed_at", TIME, "last observation")
_GAINED = (
    nullable("likes_gained", INTEGER, "likes since previous_date; may be below 0"),
    nullable("comments_gained", INTEGER, "comments since then"),
    nullable("collects_gained", INTEGER, "bookmarks since then"),
    nullable("shares_gained", INTEGER, "shares since then"),
)

_USES = (
    nullable("use_count", INTEGER, "videos with the music id, as counted by the platform"),
    nullable("use_count_exact", BOOLEAN, "false if that count was shown rounded"),
    nullable("use_count_step", INTEGER, "step it was rounded to; null: exact, or not shown"),
    nullable("use_count_observed_at", TIME, "when that count was shown"),
)
"""The platform's own figure, never one of our videos."""

# A view follows the views that its statement reads: the engine creates them in this order.
STAR: tuple[Table, ...] = (
    # A fact, first because the dimensions have its newest count.
    _view(
        "marts.music_id_days",
        "music id and day (UTC) on which the platform's count of its videos was observed",
        ("music_id", "day"),
        (
            required("music_id", TEXT, "music id"),
            _DAY,
            required("use_count", INTEGER, "videos as counted by the platform, last of the day"),
            *_USES[1:3],
            nullable(
                "uses_gained", INTEGER, "since previous_date; rounded counts are off by steps"
            ),
            nullable("previous_use_count", INTEGER, "count that uses_gained is counted from"),
            nullable("previous_date", DATE, "last earlier day with a count"),
            _OBSERVATIONS,
            required("use_count_observed_at", TIME, "when the count was shown"),
        ),
        references=refer(music_id="music_ids", day="days"),
    ),
    # Dimensions: one row per thing, with its newest known properties.
    _view(
        "marts.tracks",
        "track that a scan was about",
        ("track_music_id",),
        (
            _TRACK,
            nullable("newest_job_id", TEXT, "newest scan whose result is kept"),
            nullable("title", TEXT, "newest known title"),
            nullable("artist", TEXT, "newest known artist"),
            *_USES,
            required("result_count", INTEGER, "scans whose result is kept"),
            nullable("confirmed_video_count", INTEGER, "confirmed videos in the newest kept scan"),
            required("ever_confirmed_video_count", INTEGER, "videos that any scan confirmed"),
            required("music_id_count", INTEGER, "music ids that these videos use"),
            required("account_count", INTEGER, "accounts that published them, as far as known"),
            nullable("first_result_at", TIME, "time of the oldest kept scan"),
            nullable("last_result_at", TIME, "time of the newest kept scan"),
        ),
        references=refer(track_music_id="music_ids"),
    ),
    _view(
        "marts.music_ids",
        "music id that was read, used by an observed video, or scanned",
        ("music_id",),
        (
            required("music_id", TEXT, "music id"),
            nullable("source_aweme_id", TEXT, "video that a user sound comes from"),
            nullable("service_track_id", TEXT, "song of the music id on the music service"),
            nullable("title", TEXT, "title"),
            nullable("artist", TEXT, "artist"),
            nullable("mapped_title", TEXT, "named song that the platform finds in a user sound"),
            nullable("mapped_artist", TEXT, "artist of that song, if named apart"),
            nullable("is_original_sound", BOOLEAN, "user sound rather than a released track"),
            nullable("duration_s", INTEGER, "duration in seconds"),
            *_USES,
            required("observed_video_count", INTEGER, "observed videos that use it"),
            required("page_observation_count", INTEGER, "observations of its own page"),
            nullable("created_at", TIME, "time in the music id"),
            _FIRST,
            _LAST,
        ),
    ),
    _view(
        "marts.videos",
        "observed video",
        ("aweme_id",),
        (
            _VIDEO,
            _AUTHOR,
            nullable("music_id", TEXT, "music id the video uses"),
            nullable("desc", TEXT, "caption"),
            nullable("share_url", TEXT, "public link"),
            nullable("media_type", TEXT, "video or photo; null: never shown"),
            nullable(
                "hashtag_ids", TEXT_LIST, "hashtag ids; empty: it has none; null: never shown"
            ),
            nullable("hashtag_names", TEXT_LIST, "hashtag names, same order"),
            required("is_exact", BOOLEAN, "false when a count was shown rounded"),
            required("statistics_complete", BOOLEAN, "true if all four counts were read exactly"),
            *COUNT_COLUMNS,
            nullable("images_count", INTEGER, "number of images of a photo post"),
            nullable("duration_ms", INTEGER, "duration of the video in milliseconds"),
            _OBSERVATIONS,
            nullable("created_at", TIME, "publication as stated, else the time in the video's id"),
            required("counts_observed_at", TIME, "observation that the counts and texts are from"),
            required("first_observed_at", TIME, "first observation"),
            required("last_observed_at", TIME, "last observation"),
        ),
        references=refer(sec_uid="accounts", music_id="music_ids"),
    ),
    _view(
        "marts.accounts",
        "account that was read or that published an observed video",
        ("sec_uid",),
        (
            _ACCOUNT,
            nullable("unique_id", TEXT, "handle"),
            nullable("nickname", TEXT, "display name"),
            nullable("follower_count", INTEGER, "followers"),
            nullable("following_count", INTEGER, "accounts followed"),
            nullable("aweme_count", INTEGER, "videos published"),
            nullable("likes_received_count", INTEGER, "likes received (total_favorited)"),
            required("observed_video_count", INTEGER, "observed videos of the account"),
            required("profile_observation_count", INTEGER, "observations of its profile"),
            required("first_observed_at", TIME, "first observation of it or of its videos"),
            required("last_observed_at", TIME, "last observation of it or of its videos"),
        ),
    ),
    _view(
        "marts.days",
        "day (UTC) from the first observation to the last, also without one",
        ("day",),
        (
            _DAY,
            required("weekday", INTEGER, "day of the week, 1 is Monday"),
            required("is_weekend", BOOLEAN, "true on Saturday and Sunday"),
            required("capture_count", INTEGER, "captures on this day"),
            required("request_count", INTEGER, "requests for them"),
            required("week_start_date", DATE, "Monday of the week"),
            required("month_start_date", DATE, "first day of the month"),
        ),
    ),
    # Facts: which track a video carries, and how counts changed from day to day.
    _view(
        "marts.track_videos",
        "track and video that a scan confirmed to carry the recording",
        ("track_music_id", "aweme_id"),
        (
            _TRACK,
            _VIDEO,
            _AUTHOR,
            required("source_music_id", TEXT, "music id the video uses"),
            required("job_id", TEXT, "newest job that confirmed it"),
            nullable("comparison_id", TEXT, "evidence; null for exact_music_id"),
            required("link_type", TEXT, "exact_music_id, audio_fingerprint_match or ..._graph"),
            required(
                "is_in_newest_result", BOOLEAN, "the newest kept scan of the track contains it"
            ),
            required("confirmation_count", INTEGER, "jobs that confirmed it"),
            required("first_confirmed_at", TIME, "first confirmation"),
            required("last_confirmed_at", TIME, "newest confirmation"),
        ),
        references=refer(
            track_music_id="tracks",
            aweme_id="videos",
            sec_uid="accounts",
            source_music_id="music_ids",
        ),
    ),
    _view(
        "marts.video_days",
        "video and day (UTC) with an observation of it",
        ("aweme_id", "day"),
        (
            _VIDEO,
            _DAY,
            *(
                nullable(
                    column.name, INTEGER, f"{column.meaning}, as last read completely on the day"
                )
                for column in COUNT_COLUMNS
            ),
            *_GAINED,
            nullable("previous_digg_count", INTEGER, "likes that likes_gained is counted from"),
            _OBSERVATIONS,
            nullable("previous_date", DATE, "last earlier day with complete counts"),
            required("last_observed_at", TIME, "last observation of the day"),
        ),
        references=refer(aweme_id="videos", day="days"),
    ),
    _view(
        "marts.account_days",
        "account and day (UTC) on which its profile was observed",
        ("sec_uid", "day"),
        (
            _ACCOUNT,
            _DAY,
            nullable("follower_count", INTEGER, "followers, the last number of the day"),
            nullable("aweme_count", INTEGER, "videos published, the last number of the day"),
            nullable("likes_received_count", INTEGER, "likes received, the last number of the day"),
            nullable(
                "followers_gained",
                INTEGER,
                "followers since the last earlier day with a count of the same field",
            ),
            nullable(
                "videos_gained", INTEGER, "videos since the last earlier day with their number"
            ),
            nullable(
                "likes_gained", INTEGER, "likes received since the last earlier day with them"
            ),
            _OBSERVATIONS,
            required("last_observed_at", TIME, "last observation of the day"),
        ),
        references=refer(sec_uid="accounts", day="days"),
    ),
    _view(
        "marts.track_days",
        "track and day (UTC) on which a confirmed video of it was observed",
        ("track_music_id", "day"),
        (
            _TRACK,
            _DAY,
            required("observed_video_count", INTEGER, "confirmed videos observed on the day"),
            required(
                "compared_video_count", INTEGER, "those with likes on this and an earlier day"
            ),
            nullable("compared_digg_count", INTEGER, "likes of the compared videos on the day"),
            nullable("previous_digg_count", INTEGER, "likes of the same videos before"),
            *(
                nullable(f"{what}_gained", INTEGER, f"{what} gained by videos observed before")
                for what in ("likes", "comments", "collects", "shares")
            ),
            *_USES,
            nullable(
                "confirmed_use_count",
                INTEGER,
                "sum of the platform's counts of all music ids; null unless each was observed",
            ),
            nullable("confirmed_use_count_exact", BOOLEAN, "false if one of them was rounded"),
            required("counted_music_id_count", INTEGER, "music ids with a count on the day"),
            required("confirmed_music_id_count", INTEGER, "music ids that carry the recording"),
            required("last_observed_at", TIME, "last observation of the day"),
        ),
        references=refer(track_music_id="tracks", day="days"),
    ),
    # Conclusions across scans: which recording came from which, and whether lists are genuine.
    _view(
        "marts.genealogy",
        "track and music id that a scan linked to the recording",
        ("track_music_id", "music_id"),
        (
            _TRACK,
            required("music_id", TEXT, "music id that carries the recording"),
            nullable("title", TEXT, "title"),
            nullable("kind", TEXT, "own_id (the track's), original_sound (of a user), library"),
            nullable("is_original_sound", BOOLEAN, "user sound rather than a released track"),
            required(
                "evidence",
                TEXT,
                "own_id, audio (confirmed), or name (same song and artist, not heard)",
            ),
            nullable("created_at", TIME, "birth: the time in the music id; null if contradicted"),
            nullable(
                "created_at_check",
                TEXT,
                "by stated times: born_with_video, consistent, contradicted; null without any",
            ),
            nullable("first_aweme_id", TEXT, "first known video under it"),
            nullable("first_published_at", TIME, "publication of that video"),
            nullable("source_aweme_id", TEXT, "video that a user sound was born with"),
            nullable("source_basis", TEXT, "stated by the platform, or concluded from the id"),
            nullable("sec_uid", TEXT, "uploader: author of that video"),
            nullable("owner_nickname", TEXT, "name of the uploader"),
            nullable("copy_of_music_id", TEXT, "earliest older music id with the recording"),
            nullable(
                "copy_evidence",
                TEXT,
                "compared (the two ids), audio (each with the recording) or name",
            ),
            nullable("comparison_id", TEXT, "confirmed comparison of the two ids"),
            required("confirmed_video_count", INTEGER, "confirmed videos under it"),
            required("observed_video_count", INTEGER, "observed videos that use it"),
        ),
        references=refer(
            track_music_id="tracks",
            music_id="music_ids",
            first_aweme_id="videos",
            source_aweme_id="videos",
            sec_uid="accounts",
            copy_of_music_id="music_ids",
            exceptions={"source_aweme_id": "the platform may name a video that was never read"},
        ),
    ),
    _view(
        "marts.list_shares",
        "music id and day (UTC) on which its official list was read",
        ("music_id", "day"),
        (
            required("music_id", TEXT, "music id of the list"),
            _DAY,
            required("row_count", INTEGER, "videos that the list showed"),
            required("named_row_count", INTEGER, "those whose own music id is known"),
            required("own_row_count", INTEGER, "those that name the list's music id"),
            required(
                "compared_row_count", INTEGER, "those compared with a recording of the music id"
            ),
            required("audio_row_count", INTEGER, "those confirmed by audio to sound like it"),
            required(
                "foreign_audio_row_count", INTEGER, "of these, those that name another music id"
            ),
            nullable("own_share", FLOAT, "own_row_count of named_row_count"),
            nullable("audio_share", FLOAT, "audio_row_count of compared_row_count"),
        ),
        references=refer(
            music_id="music_ids",
            day="days",
            exceptions={"music_id": "a list may be read of an id that nothing else names"},
        ),
    ),
)
"""Each view after those that its statement reads."""
