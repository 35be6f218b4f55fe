-- One row per track and music id that a scan linked to the recording.
-- A test holds the rules to plain Python (`tests/warehouse/analysis/genealogy_rules.py`); the windows of time are those of `warehouse.records.times`.
with
names as (
    -- the song that a music id names: a user sound names its uploader, so its mapped song counts
    select
        * exclude (id_at) replace (
            coalesce(
                created_at,
                case when id_at between '2016-09-01 00:00:00+00'::timestamptz
                    and last_observed_at + interval 10 minutes then id_at end
            ) as created_at
        ),
        coalesce(
            is_original_sound,
            case when regexp_matches(title, '^@.*(创作的原声|original sound)', 'is') then true end
        ) as is_user_sound,
        nullif(trim(regexp_extract(title, '^@(.*?)\s*(创作的原声|original sound)', 1, 'is')), '')
            as named_owner
    from (
        -- rows of the first release do not have the time that their id carries
        select *, to_timestamp((try_cast(music_id as ubigint) >> 32)::bigint) as id_at
        from marts.music_ids
    )
),
songs as (
    select
        *,
        regexp_replace(
            lower(nfc_normalize(case when is_user_sound then mapped_title else title end)),
            '[^\p{L}\p{N}]', '', 'g'
        ) as song_name,
        regexp_replace(
            lower(nfc_normalize(case when is_user_sound then mapped_artist else artist end)),
            '[^\p{L}\p{N}]', '', 'g'
        ) as song_artist
    from names
),
compared as (
    select
        track_music_id,
        least(reference_music_id, candidate_music_id) as one_music_id,
        greatest(reference_music_id, candidate_music_id) as other_music_id,
        verdict,
        arg_max(comparison_id, (score, comparison_id)) as comparison_id
    from marts.audio_comparisons
    group by all
),
carrying as (
    select track_music_id, track_music_id as music_id, 'own_id' as evidence
    from marts.tracks
    union
    select track_music_id, source_music_id, 'audio'
    from marts.track_videos
    where source_music_id <> track_music_id
),
heard as (
    select track_music_id, one_music_id as music_id from compared where verdict <> 'not_comparable'
    union
    select track_music_id, other_music_id from compared where verdict <> 'not_comparable'
),
own_songs as (
    select track_music_id, songs.*
    from marts.tracks
    join songs on songs.music_id = track_music_id
),
same_name as (
    select own_songs.track_music_id, songs.music_id
    from own_songs
    join songs using (service_track_id)
    union
    select own_songs.track_music_id, songs.music_id
    from own_songs
    join songs using (song_name, song_artist)
    where length(song_name) > 1 and length(song_artist) > 0
),
named as (
    -- an id that was compared is linked by what was heard, whatever its name
    select track_music_id, music_id, 'name' as evidence
    from same_name
    anti join carrying using (track_music_id, music_id)
    anti join heard using (track_music_id, music_id)
),
linked as (
    from carrying
    union
    from named
),
uses as (
    select
        aweme_id,
        arg_max(music_id, observed_at) as music_id,
        coalesce(min(stated_at), min(created_at)) as published_at, -- a stated time stands
        min(stated_at) as stated_at,
        to_timestamp((any_value(try_cast(aweme_id as ubigint)) >> 32)::bigint) as made_at
    from (
        -- from the year 10000 on, it is no time in seconds
        select *, case when create_time < 253402300800 then to_timestamp(create_time) end as stated_at
        from seen.videos
    )
    where music_id in (select music_id from linked)
    group by aweme_id
),
births as (
    select
        music_id,
        aweme_id,
        case
            when date_diff('second', stated_at, created_at) between -84 and 337
                then date_diff('second', stated_at, created_at)
            when date_diff('second', made_at, created_at) between -84 and 337
                then date_diff('second', made_at, created_at)
        end as offset_s
    from uses
    join names using (music_id)
    where is_user_sound is distinct from false
),
sources as (
    select
        music_id,
        arg_min(aweme_id, (abs(offset_s), aweme_id)) as aweme_id
    from births
    where offset_s is not null
    group by music_id
),
first_videos as (
    select
        music_id,
        arg_min(aweme_id, (published_at, aweme_id)) filter (published_at is not null)
            as first_aweme_id,
        min(published_at) as first_published_at,
        min(stated_at) as first_stated_at
    from uses
    group by music_id
),
owners as (
    select music_id, arg_max(owner_nickname, (observed_at, committed_at, surface)) as owner_nickname
    from seen.tracks
    where owner_nickname is not null
    group by music_id
),
facts as (
    select
        linked.track_music_id,
        linked.music_id,
        songs.title,
        case
            when linked.evidence = 'own_id' then 'own_id'
            when songs.is_user_sound then 'original_sound'
            when not songs.is_user_sound then 'library'
        end as kind,
        songs.is_user_sound as is_original_sound,
        linked.evidence,
        case
            when songs.created_at is null or first_stated_at is null then null
            when date_diff('second', first_stated_at, songs.created_at) > 86400 then 'contradicted'
            when sources.aweme_id is not null then 'born_with_video'
            else 'consistent'
        end as created_at_check,
        case when created_at_check = 'contradicted' then null else songs.created_at end
            as created_at,
        first_aweme_id,
        first_published_at,
        case when songs.is_user_sound is distinct from false
            then coalesce(songs.source_aweme_id, sources.aweme_id)
        end as source_aweme_id,
        case
            when songs.is_user_sound is not distinct from false then null
            when songs.source_aweme_id is not null then 'stated'
            when sources.aweme_id is not null then 'id'
        end as source_basis,
        coalesce(owner_nickname, case when songs.is_user_sound then named_owner end)
            as owner_nickname,
        songs.observed_video_count
    from linked
    join songs using (music_id)
    left join sources using (music_id)
    left join first_videos using (music_id)
    left join owners using (music_id)
),
elders as (
    select
        younger.track_music_id,
        younger.music_id,
        arg_min(older.music_id, (older.evidence = 'name', older.created_at, older.music_id))
            as copy_of_music_id,
        bool_and(older.evidence = 'name') or any_value(younger.evidence) = 'name' as is_by_name
    from facts as younger
    join facts as older
        on older.track_music_id = younger.track_music_id and older.created_at < younger.created_at
    group by younger.track_music_id, younger.music_id
),
confirmed as (
    select track_music_id, source_music_id as music_id, count(*) as confirmed_video_count
    from marts.track_videos
    group by all
)
select
    facts.track_music_id,
    facts.music_id,
    facts.title,
    facts.kind,
    facts.is_original_sound,
    facts.evidence,
    facts.created_at,
    facts.created_at_check,
    facts.first_aweme_id,
    facts.first_published_at,
    facts.source_aweme_id,
    facts.source_basis,
    -- a video at that moment by an account of another name is no proof of who uploaded the sound
    case when coalesce(facts.owner_nickname = accounts.nickname, true) then videos.sec_uid end
        as sec_uid,
    coalesce(facts.owner_nickname, accounts.nickname) as owner_nickname,
    elders.copy_of_music_id,
    case
        when elders.copy_of_music_id is null then null
        when elders.is_by_name then 'name'
        when compared.comparison_id is not null then 'compared'
        else 'audio'
    end as copy_evidence,
    case when not elders.is_by_name then compared.comparison_id end as comparison_id,
    coalesce(confirmed.confirmed_video_count, 0) as confirmed_video_count,
    facts.observed_video_count
from facts
left join elders using (track_music_id, music_id)
left join compared
    on compared.track_music_id = facts.track_music_id
    and compared.one_music_id = least(facts.music_id, elders.copy_of_music_id)
    and compared.other_music_id = greatest(facts.music_id, elders.copy_of_music_id)
    and compared.verdict = 'confirmed'
left join marts.videos as videos on videos.aweme_id = facts.source_aweme_id
left join marts.accounts as accounts on accounts.sec_uid = videos.sec_uid
left join confirmed
    on confirmed.track_music_id = facts.track_music_id and confirmed.music_id = facts.music_id
