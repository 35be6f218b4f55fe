-- title: Accounts shared by tracks
-- title_zh: 多首音乐的共同账号
-- description: Accounts with confirmed videos of more than one of the tracks.
-- description_zh: 在其中两首及以上音乐中有已确认作品的账号。
-- parameter: music_ids text: music ids, comma-separated; empty: all scanned / 音乐 ID，用逗号分隔，留空表示全部
with uses as (
    select distinct music_id, aweme_id, sec_uid from marts.confirmed_videos
    where sec_uid is not null
        and (
            coalesce(trim($music_ids), '') = ''
            or list_contains(string_split(replace($music_ids, ' ', ''), ','), music_id)
        )
),
named as (
    select sec_uid, max_by(nickname, (observed_at, aweme_id, surface)) as nickname
    from seen.videos where sec_uid is not null group by sec_uid
)
select
    max(nickname) as nickname, sec_uid, count(distinct music_id) as track_count,
    count(distinct aweme_id) as work_count,
    list(distinct music_id order by music_id) as music_ids
from uses left join named using (sec_uid)
group by sec_uid having count(distinct music_id) > 1
order by track_count desc, work_count desc, sec_uid
