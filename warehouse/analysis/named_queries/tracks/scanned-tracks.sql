-- title: Scanned tracks
-- title_zh: 已扫描的音乐
-- description: Each track with its title, its scans whose result is kept, and the newest of them.
-- description_zh: 每首音乐的标题、结果仍保留的扫描次数和其中最新的结果。
with titles as (
    select music_id, arg_max(title, observed_at) as title, arg_max(author, observed_at) as artist
    from seen.tracks group by music_id
)
select music_id, title, artist, count(*) as scans, max(committed_at) as last_scan_at,
    arg_max(confirmed_count, committed_at) as confirmed
from marts.job_results left join titles using (music_id)
where job_id in (select job_id from marts.coverage)
group by all
order by last_scan_at desc, music_id
