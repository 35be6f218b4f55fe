-- title: Accounts that use several scanned tracks
-- title_zh: 使用多首已扫描音乐的账号
-- description: With the number of tracks, and of different confirmed videos.
-- description_zh: 及其使用的音乐数和已确认的不同作品数。
-- parameter: least integer = 2: number of tracks from which an account is listed / 至少使用的音乐数
select sec_uid, count(distinct music_id) as tracks, count(distinct aweme_id) as videos
from marts.confirmed_videos
where sec_uid is not null
group by sec_uid
having count(distinct music_id) >= $least
order by tracks desc, videos desc, sec_uid
