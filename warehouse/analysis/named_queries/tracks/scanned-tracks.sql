-- title: Scanned tracks
-- description: Each track with its title, the number of its scans and the newest result.
with titles as (
    select music_id, arg_max(title, observed_at) as title, arg_max(author, observed_at) as artist
    from seen.tracks group by music_id
)
select music_id, title, artist, count(*) as scans, max(committed_at) as last_scan_at,
    arg_max(confirmed_count, committed_at) as confirmed
from marts.job_results left join titles using (music_id)
group by all
order by last_scan_at desc, music_id
