-- title: Accounts that use several scanned tracks
-- description: With the number of tracks, and of different confirmed videos.
-- parameter: least integer = 2: number of tracks from which an account is listed
select sec_uid, count(distinct music_id) as tracks, count(distinct aweme_id) as videos
from marts.confirmed_videos
where sec_uid is not null
group by sec_uid
having count(distinct music_id) >= $least
order by tracks desc, videos desc, sec_uid
