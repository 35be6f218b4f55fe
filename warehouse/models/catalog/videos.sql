-- One row per track and video, confirmed or a variant, the most liked first.

select
    track_key,
    asked.label,
    track_music_id,
    carrying.aweme_id,
    relation,
    link_type,
    source_music_id,
    score,
    speed,
    semitones,
    videos.sec_uid,
    nickname,
    videos.created_at,
    digg_count,
    comment_count,
    collect_count,
    share_count,
    counts_observed_at,
    videos.share_url,
    carrying.job_id,
    carrying.comparison_id,
    first_confirmed_at,
    case when relation = 'confirmed' then first_confirmed_at > previous_at end as is_new
from asked
join carrying using (track_music_id)
left join before using (track_key)
left join marts.audio_comparisons as pairs on pairs.comparison_id = carrying.comparison_id
left join marts.videos as videos on videos.aweme_id = carrying.aweme_id
left join marts.accounts as accounts on accounts.sec_uid = videos.sec_uid
order by place, relation, digg_count desc nulls last, carrying.aweme_id
