"""Tables of observations: bodies, captures, and the records read from them."""

from warehouse.tables.column import (
    BOOLEAN,
    BYTES,
    CAPTURE,
    COMMITTED,
    DATE,
    FLOAT,
    INTEGER,
    JOB,
    OBSERVED,
    PROVIDER,
    SURFACE,
    TEXT,
    TEXT_LIST,
    TIME,
    Example,
    Table,
    nullable,
    refer,
    required,
)

RAW: tuple[Table, ...] = (
    Table(
        "raw.payloads",
        "response body, compressed, for each process that stored it at the same time",
        ("sha256", "committed_at"),
        (
            required("sha256", TEXT, "hash of the uncompressed body"),
            required("body", BYTES, "the body, zstd-compressed"),
            required("size_bytes", INTEGER, "uncompressed size"),
            nullable("content_type", TEXT, "content type of the response"),
            COMMITTED,
        ),
        examples=(
            Example(
                "How much do the bodies of a content type take?",
                """
                select content_type, count(*) as bodies, sum(size_bytes) as bytes
                from (select distinct on (sha256) * from raw.payloads)
                group by content_type
                order by bytes desc, content_type
                """,
            ),
        ),
    ),
    Table(
        "raw.captures",
        "attempt to read a surface for an entity",
        ("capture_id",),
        (
            required("capture_id", TEXT, "id of the attempt"),
            required("surface", TEXT, "requested surface"),
            required("entity_id", TEXT, "requested music id, account, video or term"),
            required(
                "sequence", INTEGER, "number of the capture among those of this surface and entity"
            ),
            required("outcome", TEXT, "ok, unavailable, or the type of the upstream error"),
            nullable("reason", TEXT, "the platform's own word, or what did not match"),
            nullable("http_status", INTEGER, "status of the last response"),
            required(
                "request_count", INTEGER, "requests made, including retries and other sources"
            ),
            nullable("item_count", INTEGER, "items on the page"),
            nullable("cursor_in", INTEGER, "cursor of the request"),
            nullable("cursor_out", INTEGER, "cursor of the response"),
            nullable("has_more", BOOLEAN, "the platform's signal that more exists"),
            nullable("payload_sha256", TEXT, "body in raw.payloads"),
            nullable("source_path", TEXT, "path the body came from, without host and secrets"),
            required("parser_version", TEXT, "parser that read it"),
            PROVIDER,
            JOB,
            OBSERVED,
            COMMITTED,
        ),
        examples=(
            Example(
                "What was refused or failed, by surface?",
                """
                select surface, outcome, count(*) as captures
                from raw.captures
                where outcome <> 'ok'
                group by all
                order by captures desc, surface, outcome
                """,
            ),
        ),
    ),
    Table(
        "raw.capture_items",
        "item on a captured page",
        ("capture_id", "position"),
        (
            required("capture_id", TEXT, "capture of the page"),
            required("position", INTEGER, "position on the page, from 0"),
            required("surface", TEXT, "surface of the capture"),
            required("entity_id", TEXT, "entity of the capture"),
            required("sequence", INTEGER, "sequence of the capture"),
            required("aweme_id", TEXT, "video shown"),
            COMMITTED,
        ),
        examples=(
            Example(
                "Which videos do the lists show most often?",
                """
                select aweme_id, count(*) as times
                from seen.capture_items
                group by aweme_id
                order by times desc, aweme_id
                limit 10
                """,
            ),
        ),
        references=refer(aweme_id="videos"),
    ),
    Table(
        "raw.videos",
        "observation of a video",
        ("aweme_id", "observed_at", "surface", "committed_at"),
        (
            required("aweme_id", TEXT, "video"),
            SURFACE,
            OBSERVED,
            CAPTURE,
            nullable("desc", TEXT, "caption"),
            nullable("create_time", INTEGER, "publication, unix seconds"),
            nullable("share_url", TEXT, "public link"),
            nullable("media_type", TEXT, "video or photo"),
            nullable("is_top", BOOLEAN, "pinned by its author"),
            nullable("sec_uid", TEXT, "author"),
            nullable("uid", TEXT, "author's numeric id"),
            nullable("unique_id", TEXT, "author's handle"),
            nullable("nickname", TEXT, "author's display name"),
            nullable("avatar_url", TEXT, "author's picture"),
            nullable("music_id", TEXT, "music id the video uses"),
            nullable("music_title", TEXT, "title of that music id"),
            nullable("music_author", TEXT, "artist of that music id"),
            nullable("music_duration_s", INTEGER, "duration of that sound in seconds"),
            nullable("music_is_original_sound", BOOLEAN, "user sound rather than a released track"),
            nullable("music_mapped_title", TEXT, "named song the platform links the sound to"),
            nullable("music_mapped_artist", TEXT, "artist of that song, if named apart"),
            nullable("duration_ms", INTEGER, "duration of the video in milliseconds"),
            nullable("width", INTEGER, "width in pixels"),
            nullable("height", INTEGER, "height in pixels"),
            nullable("cover_url", TEXT, "cover picture"),
            nullable("images_count", INTEGER, "number of images of a photo post"),
            nullable("hashtag_ids", TEXT_LIST, "hashtag ids"),
            nullable("hashtag_names", TEXT_LIST, "hashtag names, same order"),
            nullable("digg_count", INTEGER, "likes"),
            nullable("comment_count", INTEGER, "comments"),
            nullable("collect_count", INTEGER, "bookmarks"),
            nullable("share_count", INTEGER, "shares"),
            required("is_exact", BOOLEAN, "false when a count was shown rounded"),
            required("statistics_complete", BOOLEAN, "true if all four counts were read exactly"),
            nullable("created_at", TIME, "publication as stated, else the time in the video's id"),
            nullable("created_at_source", TEXT, "stated or id"),
            nullable("music_created_at", TIME, "time in the music id"),
            nullable("music_service_track_id", TEXT, "song of that music id on the music service"),
            PROVIDER,
            JOB,
            COMMITTED,
        ),
        examples=(
            Example(
                "How often, and on which surfaces, was each video observed?",
                """
                select aweme_id, count(*) as observations,
                    list(distinct surface order by surface) as surfaces
                from seen.videos
                group by aweme_id
                order by observations desc, aweme_id
                limit 10
                """,
            ),
        ),
        references=refer(aweme_id="videos", sec_uid="accounts", music_id="music_ids"),
        version=2,
    ),
    Table(
        "raw.accounts",
        "observation of an account",
        ("sec_uid", "observed_at", "surface", "committed_at"),
        (
            required("sec_uid", TEXT, "account"),
            SURFACE,
            OBSERVED,
            CAPTURE,
            nullable("uid", TEXT, "numeric id"),
            nullable("unique_id", TEXT, "handle"),
            nullable("short_id", TEXT, "short number"),
            nullable("nickname", TEXT, "display name"),
            nullable("signature", TEXT, "self-description"),
            nullable("avatar_url", TEXT, "picture"),
            nullable("follower_count", INTEGER, "followers"),
            nullable("follower_count_source", TEXT, "field that held them"),
            nullable("following_count", INTEGER, "accounts followed"),
            nullable("aweme_count", INTEGER, "videos published"),
            nullable("total_favorited", INTEGER, "likes received"),
            nullable("favoriting_count", INTEGER, "likes given"),
            nullable("ip_location", TEXT, "region shown"),
            PROVIDER,
            JOB,
            COMMITTED,
        ),
        examples=(
            Example(
                "How did the followers of each account develop?",
                """
                select sec_uid, observed_at, follower_count
                from seen.accounts
                order by sec_uid, observed_at, surface
                limit 100
                """,
            ),
        ),
        references=refer(sec_uid="accounts"),
        version=2,  # follower_count_source
    ),
    Table(
        "raw.tracks",
        "observation of a music id",
        ("music_id", "observed_at", "surface", "committed_at"),
        (
            required("music_id", TEXT, "music id"),
            SURFACE,
            OBSERVED,
            CAPTURE,
            nullable("title", TEXT, "title"),
            nullable("author", TEXT, "artist"),
            nullable("owner_nickname", TEXT, "uploader of the sound"),
            nullable("duration_s", INTEGER, "duration in seconds"),
            nullable("is_original_sound", BOOLEAN, "user sound rather than a released track"),
            nullable("cover_url", TEXT, "cover picture"),
            nullable("source_aweme_id", TEXT, "video that a user sound comes from"),
            nullable("mapped_title", TEXT, "named song that the platform finds in a user sound"),
            nullable("mapped_artist", TEXT, "artist of that song, if named apart"),
            nullable("created_at", TIME, "time in the music id"),
            nullable("created_at_source", TEXT, "id"),
            nullable("service_track_id", TEXT, "song of the music id on the music service"),
            PROVIDER,
            JOB,
            COMMITTED,
        ),
        examples=(
            Example(
                "Which named songs does the platform find in user sounds?",
                """
                select distinct music_id, mapped_title, mapped_artist
                from seen.tracks
                where mapped_title is not null
                order by music_id, mapped_title, mapped_artist
                """,
            ),
        ),
        references=refer(music_id="music_ids"),
        version=2,  # mapped_title
    ),
    Table(
        "raw.hashtags",
        "observation of a hashtag",
        ("ch_id", "observed_at", "surface", "committed_at"),
        (
            required("ch_id", TEXT, "hashtag"),
            SURFACE,
            OBSERVED,
            CAPTURE,
            nullable("name", TEXT, "name, without the #"),
            nullable(
                "user_count", INTEGER, "videos or accounts that use it, as counted by the platform"
            ),
            nullable("view_count", INTEGER, "views"),
            required("is_exact", BOOLEAN, "false when a count was shown rounded"),
            PROVIDER,
            JOB,
            COMMITTED,
        ),
        examples=(
            Example(
                "Which hashtags have most views, as last shown?",
                """
                select name, arg_max(view_count, observed_at) as views
                from seen.hashtags
                group by name
                order by views desc nulls last, name
                limit 10
                """,
            ),
        ),
    ),
    Table(
        "raw.search_pages",
        "page of a guest search",
        ("capture_id",),
        (
            required("capture_id", TEXT, "capture of the page; its items are the videos shown"),
            SURFACE,
            OBSERVED,
            required("term", TEXT, "search term"),
            required("cursor", INTEGER, "cursor of the request"),
            required("search_id", TEXT, "search id of the request; empty on the first page"),
            required("backtrace", TEXT, "trace of the request; empty on the first page"),
            required("next_cursor", INTEGER, "cursor for the next page"),
            required("next_search_id", TEXT, "search id for the next page"),
            required("next_backtrace", TEXT, "trace for the next page"),
            nullable("has_more", BOOLEAN, "the platform's signal that more exists"),
            nullable("nil_type", TEXT, "the platform's own word for no result"),
            required("item_count", INTEGER, "videos on the page"),
            required("skipped_cards", INTEGER, "cards that are not videos: users, related terms"),
            nullable("is_cut", BOOLEAN, "true if the response broke off; what arrived is kept"),
            PROVIDER,
            JOB,
            COMMITTED,
        ),
        examples=(
            Example(
                "Which search terms gave most videos?",
                """
                select term, count(*) as pages, sum(item_count) as videos
                from seen.search_pages
                group by term
                order by videos desc, term
                """,
            ),
        ),
        version=2,  # is_cut
    ),
    Table(
        "raw.chart_issues",
        "observation of a chart issue",
        ("volid", "observed_at", "surface", "committed_at"),
        (
            required("volid", TEXT, "issue"),
            SURFACE,
            OBSERVED,
            CAPTURE,
            nullable("name", TEXT, "name of the issue"),
            nullable("chart_date", DATE, "date of the issue; null if the source does not give it"),
            nullable("scheduled_at", TIME, "time at which the source plans to release the issue"),
            required("is_latest", BOOLEAN, "true if the source marked it as the latest"),
            PROVIDER,
            JOB,
            COMMITTED,
        ),
        examples=(
            Example(
                "Which issues of the chart are stored?",
                """
                select volid, max(name) as name, max(chart_date) as chart_date
                from seen.chart_issues
                group by volid
                order by chart_date desc nulls last, volid
                limit 10
                """,
            ),
        ),
        version=2,  # scheduled_at
    ),
    Table(
        "raw.chart_songs",
        "song of a chart issue",
        ("capture_id", "rank"),
        (
            required("capture_id", TEXT, "capture that read it"),
            required("rank", INTEGER, "position in the list, from 1"),
            nullable("volid", TEXT, "issue; null if a page of the latest issue does not give it"),
            SURFACE,
            OBSERVED,
            nullable("chart_date", DATE, "date of the issue as given on the page"),
            required("title", TEXT, "title"),
            nullable("artist", TEXT, "artist"),
            nullable("duration_s", INTEGER, "duration in seconds"),
            nullable("cover_url", TEXT, "cover picture"),
            nullable(
                "previous_rank", INTEGER, "position in the previous issue; null: new, or not given"
            ),
            nullable("sort", INTEGER, "the source's own number, which can have gaps"),
            nullable("song_hash", TEXT, "the source's hash of the song"),
            nullable("album_audio_id", TEXT, "the source's id of the recording on its album"),
            nullable("album_id", TEXT, "the source's id of the album"),
            nullable("rank_count", INTEGER, "number of issues with the song"),
            nullable("is_first", BOOLEAN, "true if on the chart for the first time"),
            PROVIDER,
            JOB,
            COMMITTED,
        ),
        examples=(
            Example(
                "Which songs were at the top?",
                """
                select distinct volid, chart_date, title, artist
                from seen.chart_songs
                semi join seen.released_songs using (capture_id, rank)
                where rank = 1
                order by chart_date desc nulls last, volid, title, artist
                limit 10
                """,
            ),
        ),
    ),
    Table(
        "raw.sounds",
        "decoded sound of a video, or why it cannot be compared",
        ("sound_sha256", "feature_version", "aweme_id", "committed_at"),
        (
            required("sound_sha256", TEXT, "hash of the encoded sound"),
            required("feature_version", TEXT, "version of the feature extraction"),
            required("aweme_id", TEXT, "video of the sound, or song of the music service"),
            nullable("music_id", TEXT, "music id of that video"),
            nullable("features", BYTES, "uncentred features, packed; null if not comparable"),
            nullable("duration_s", FLOAT, "decoded duration in seconds"),
            nullable("sample_rate_hz", INTEGER, "native sample rate"),
            nullable("codec", TEXT, "codec of the sound stream"),
            nullable("not_comparable_reason", TEXT, "why no features could be extracted"),
            required("library_version", TEXT, "versions of decoder and numeric libraries"),
            JOB,
            OBSERVED,
            COMMITTED,
        ),
        examples=(
            Example(
                "Why can sounds not be compared?",
                """
                select not_comparable_reason, count(distinct sound_sha256) as sounds
                from raw.sounds
                where features is null
                group by not_comparable_reason
                order by sounds desc, not_comparable_reason
                """,
            ),
        ),
    ),
    Table(
        "raw.scan_checkpoints",
        "state of a scan after a stage or a round, deleted some days after its job has ended",
        ("job_id", "run_number", "number"),
        (
            required("job_id", TEXT, "job"),
            required("number", INTEGER, "number of the checkpoint within the job, from 1"),
            required("run_number", INTEGER, "run of the job that wrote it"),
            required("stage", TEXT, "stage that was under way or had ended"),
            nullable(
                "round", INTEGER, "round of listening that had ended, as in marts.expansion_rounds"
            ),
            required("revision", TEXT, "schema and matcher that the state belongs to"),
            required("state", BYTES, "the state, packed"),
            COMMITTED,
        ),
        examples=(
            Example(
                "Which scans are under way, and how far are they?",
                """
                select job_id, arg_max(stage, (run_number, number)) as stage,
                    max(committed_at) as saved_at
                from raw.scan_checkpoints
                group by job_id
                order by saved_at desc, job_id
                """,
            ),
        ),
    ),
    Table(
        "raw.erasures",
        "erasure of an account, without its identity",
        ("erasure_id",),
        (
            required("erasure_id", TEXT, "erasure"),
            required("salt", TEXT, "salt of the marks"),
            required(
                "marks", TEXT_LIST, "salted hashes of ids and sound titles that must not come back"
            ),
            required("erased_at", TIME, "when it was requested"),
            COMMITTED,
        ),
        examples=(
            Example(
                "When were accounts erased?",
                """
                select erased_at, len(marks) as marks
                from raw.erasures
                order by erased_at
                """,
            ),
        ),
    ),
)
