-- Questions that the tables answer. Each begins with `-- table: question`, and its rows have one order.

-- raw.payloads: How much do the bodies of a content type take?
select content_type, count(*) as bodies, sum(size_bytes) as bytes
from (select distinct on (sha256) * from raw.payloads)
group by content_type
order by bytes desc, content_type

-- raw.captures: What was refused or failed, by surface?
select surface, outcome, count(*) as captures
from raw.captures
where outcome <> 'ok'
group by all
order by captures desc, surface, outcome

-- raw.capture_items: Which videos do the lists show most often?
select aweme_id, count(*) as times
from seen.capture_items
group by aweme_id
order by times desc, aweme_id
limit 10

-- raw.videos: How often, and on which surfaces, was each video observed?
select aweme_id, count(*) as observations,
    list(distinct surface order by surface) as surfaces
from seen.videos
group by aweme_id
order by observations desc, aweme_id
limit 10

-- raw.accounts: How did the followers of each account develop?
select sec_uid, observed_at, follower_count
from seen.accounts
order by sec_uid, observed_at, surface
limit 100

-- raw.tracks: Which named songs does the platform find in user sounds?
select distinct music_id, mapped_title, mapped_artist
from seen.tracks
where mapped_title is not null
order by music_id, mapped_title, mapped_artist

-- raw.hashtags: Which hashtags have most views, as last shown?
select name, arg_max(view_count, observed_at) as views
from seen.hashtags
group by name
order by views desc nulls last, name
limit 10

-- raw.search_pages: Which search terms gave most videos?
select term, count(*) as pages, sum(item_count) as videos
from seen.search_pages
group by term
order by videos desc, term

-- raw.chart_issues: Which issues of the chart are stored?
select volid, max(name) as name, max(chart_date) as chart_date
from seen.chart_issues
group by volid
order by chart_date desc nulls last, volid
limit 10

-- raw.chart_songs: Which songs were at the top?
select distinct volid, chart_date, title, artist
from seen.chart_songs
semi join seen.released_songs using (capture_id, rank)
where rank = 1
order by chart_date desc nulls last, volid, title, artist
limit 10

-- raw.sounds: Why can sounds not be compared?
select not_comparable_reason, count(distinct sound_sha256) as sounds
from raw.sounds
where features is null
group by not_comparable_reason
order by sounds desc, not_comparable_reason

-- raw.scan_checkpoints: Which scans are under way, and how far are they?
select job_id, arg_max(stage, (run_number, number)) as stage,
    max(committed_at) as saved_at
from raw.scan_checkpoints
group by job_id
order by saved_at desc, job_id

-- raw.erasures: When were accounts erased?
select erased_at, len(marks) as marks
from raw.erasures
order by erased_at

-- marts.music_first_screen: How many videos does the platform list under each track's own music id?
select job_id, source_entity_id, count(distinct aweme_id) as videos,
    count(distinct music_id) as music_ids
from marts.music_first_screen
group by all
order by videos desc, job_id, source_entity_id
limit 10

-- marts.author_first_screens: Which accounts show most videos of different music ids?
select job_id, source_entity_id, count(distinct aweme_id) as videos,
    count(distinct music_id) as music_ids
from marts.author_first_screens
group by all
order by videos desc, job_id, source_entity_id
limit 10

-- marts.hashtag_first_screens: Which hashtags show most videos?
select job_id, source_entity_id, count(distinct aweme_id) as videos,
    count(distinct music_id) as music_ids
from marts.hashtag_first_screens
group by all
order by videos desc, job_id, source_entity_id
limit 10

-- marts.candidate_pool: Which surfaces gave the first candidates of each scan?
select job_id, source_surface, count(*) as candidates
from marts.candidate_pool
group by all
order by job_id, candidates desc, source_surface

-- marts.video_details: Which pages of candidates could not be read, and why?
select outcome, reason, count(*) as videos
from marts.video_details
where outcome <> 'read'
group by all
order by videos desc, outcome, reason

-- marts.account_profiles: How many wanted profiles does each scan know?
select job_id, count(*) as wanted, count(profile_observed_at) as known
from marts.account_profiles
group by job_id
order by job_id

-- marts.candidates: What became of the candidates of each job?
select job_id, outcome, count(*) as candidates
from (
    from marts.candidates
    qualify row_number() over (
        partition by job_id, aweme_id order by committed_at desc
    ) = 1
)
group by all
order by job_id, candidates desc, outcome

-- marts.audio_comparisons: How do scores differ between verdicts?
select verdict, count(*) as pairs, round(median(score), 3) as median_score
from marts.audio_comparisons
group by verdict
order by verdict

-- marts.audio_comparisons: Which rejected pairs were nearest to a match?
select candidate_aweme_id, score, reason
from marts.audio_comparisons
where verdict = 'rejected'
order by score desc nulls last, comparison_id
limit 10

-- marts.annotations: Where do users disagree with a verdict?
select verdict, said, count(*) as annotations
from marts.annotations
join marts.audio_comparisons using (comparison_id)
group by all
order by verdict, said

-- marts.common_sounds: Which sounds make no excerpt, and which tracks share them?
select common_sound_id, aweme_id, start_s, duration_s, track_music_ids, learnt_at
from marts.common_sounds
qualify row_number() over (partition by common_sound_id order by committed_at desc) = 1
    and status = 'learnt'
order by learnt_at desc, common_sound_id

-- marts.confirmed_videos: By which evidence was each track's use confirmed?
select music_id, link_type, count(distinct aweme_id) as videos
from marts.confirmed_videos
group by all
order by music_id, videos desc, link_type

-- marts.variants: Which speeds are in use?
select kind, round(speed, 2) as speed, count(distinct aweme_id) as videos
from marts.variants
group by all
order by videos desc, kind, speed

-- marts.expansion_rounds: How many videos did each round of a scan add?
select job_id, round, len(music_ids) as music_ids, new_confirmed_count
from marts.expansion_rounds
order by job_id, round

-- marts.rankings: What leads the newest ranking of each track?
select title, rank, aweme_id, hot_score
from marts.rankings
join marts.tracks on job_id = newest_job_id
where rank <= 3
order by title, track_music_id, rank

-- marts.account_summaries: Whose confirmed videos have most likes?
select nickname, linked_video_count, linked_digg_count
from marts.account_summaries
join marts.tracks on job_id = newest_job_id
order by linked_digg_count desc nulls last, sec_uid
limit 10

-- marts.discovered_videos: What did discoveries find, by the relation of the text?
select title_relation, verdict, count(*) as videos
from marts.discovered_videos
group by all
order by title_relation, verdict

-- marts.search_related: Which search terms find videos of a track?
select term, count(distinct aweme_id) as videos
from marts.search_related, unnest(search_terms) as terms(term)
group by term
order by videos desc, term

-- marts.job_results: How did the number of confirmed videos develop from scan to scan?
select music_id, committed_at, confirmed_count
from marts.job_results
order by music_id, committed_at

-- marts.surface_health: Which surfaces worked at the last probe?
select surface, outcome, error_type, observed_at
from marts.surface_health
qualify row_number() over (
    partition by surface order by observed_at desc, probe_id
) = 1
order by surface

-- marts.coverage: Why did reading stop?
select surface, stop_reason, count(*) as jobs, sum(new_items) as new_items
from marts.coverage
group by all
order by surface, stop_reason

-- marts.coverage_estimates: How much did each scan see of what a guest could reach?
select
    job_id, unit, observed_count, estimated_count, lower_count, upper_count,
    method, not_estimated_reason
from marts.coverage_estimates
order by job_id, unit

-- marts.random_audits: Which scans left out most videos that carry the recording, at worst?
select
    job_id, population_count, compared_count, carrying_count, upper_count,
    upper_share, not_audited_reason
from marts.random_audits
order by upper_count desc nulls last, job_id

-- marts.catalog_matches: Which music ids were found through scans of other tracks?
select track_music_id, candidate_music_id, max(score) as score
from marts.catalog_matches
where verdict in ('confirmed', 'variant')
group by all
order by track_music_id, candidate_music_id

-- marts.chart_links: What did users decide on the links of chart songs?
select song_key, music_id, said, said_at
from marts.chart_links
qualify row_number() over (
    partition by song_key, music_id order by said_at desc, link_id
) = 1
order by said_at desc, link_id

-- marts.chart_platform: Which songs rose on the platform before the chart?
select title, music_id, lead_days, lead_low_days, lead_high_days
from marts.chart_platform
qualify row_number() over (
    partition by song_key, music_id order by committed_at desc
) = 1
    and direction = 'platform_first'
order by lead_days desc nulls last, song_key, music_id

-- marts.music_id_days: Which music ids does the platform count most new videos for?
select music_id, day, use_count, uses_gained / date_diff('day', previous_date, day) as per_day
from marts.music_id_days
where uses_gained is not null
order by per_day desc, music_id, day
limit 10

-- marts.tracks: Which tracks were scanned, and what was found?
select track_music_id, title, artist, confirmed_video_count, music_id_count
from marts.tracks
order by last_result_at desc, track_music_id

-- marts.music_ids: Which user sounds do most observed videos use?
select music_id, title, observed_video_count
from marts.music_ids
where is_original_sound
order by observed_video_count desc, music_id
limit 10

-- marts.videos: Which videos of a track have most likes now?
select aweme_id, digg_count, counts_observed_at
from marts.videos
join marts.track_videos using (aweme_id)
where is_in_newest_result
order by digg_count desc nulls last, aweme_id
limit 10

-- marts.videos: How many observed videos were published in each month?
select date_trunc('month', created_at)::date as month, count(*) as videos
from marts.videos
group by month
order by month

-- marts.accounts: Which accounts use a track, and how many followers have they?
select accounts.nickname, follower_count, count(*) as videos
from marts.track_videos
join marts.accounts using (sec_uid)
group by all
order by videos desc, follower_count desc nulls last, nickname

-- marts.days: On how many days of each week was something read?
select week_start_date, count(*) filter (capture_count > 0) as days,
    sum(request_count) as requests
from marts.days
group by week_start_date
order by week_start_date

-- marts.track_videos: Which videos do two tracks share?
select aweme_id, list(track_music_id order by track_music_id) as tracks
from marts.track_videos
group by aweme_id
having count(*) > 1
order by aweme_id

-- marts.track_videos: By which music ids was each track found?
select track_music_id, source_music_id, music_ids.title, count(*) as videos
from marts.track_videos
join marts.music_ids on music_ids.music_id = source_music_id
group by all
order by track_music_id, videos desc, source_music_id

-- marts.video_days: How many likes did all observed videos gain on each day?
select d.day, sum(f.likes_gained) as likes_gained
from marts.video_days f
join marts.videos using (aweme_id)
join marts.days d using (day)
group by 1
order by 1

-- marts.video_days: Which videos gained most likes per day since the previous observation?
select aweme_id, day, likes_gained / date_diff('day', previous_date, day) as per_day
from marts.video_days
where likes_gained is not null
order by per_day desc, aweme_id, day
limit 10

-- marts.account_days: Which accounts gained followers?
select nickname, sum(followers_gained) as followers_gained
from marts.account_days
join marts.accounts using (sec_uid)
group by sec_uid, nickname
order by followers_gained desc nulls last, sec_uid
limit 10

-- marts.track_days: How fast does each track grow, over the same videos?
select title, day, likes_gained, 100.0 * likes_gained / previous_digg_count as percent
from marts.track_days
join marts.tracks using (track_music_id)
where previous_digg_count > 0
order by track_music_id, day

-- marts.genealogy: Which music id of each recording is the oldest, and how many copy it?
select track_music_id, copy_of_music_id as oldest_music_id, count(*) as copies
from marts.genealogy
where copy_of_music_id is not null
group by all
order by copies desc, track_music_id, oldest_music_id

-- marts.list_shares: Which lists show most videos of other sounds?
select music_id, day, row_count, named_row_count - own_row_count as foreign_rows
from marts.list_shares
order by own_share nulls last, music_id, day
limit 10
