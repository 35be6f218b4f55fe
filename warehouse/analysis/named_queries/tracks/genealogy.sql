-- title: Genealogy of music ids
-- title_zh: 音乐 ID 的谱系
-- description: The music ids of each recording by birth: kind, uploader, first video, and which older one each copies.
-- description_zh: 同一录音的各个音乐 ID，按产生时间排列：类型、上传者、首个作品，以及复制自哪个更早的 ID。
-- parameter: music_id text: only this track / 仅此音乐
select track_music_id, genealogy.music_id, title, kind, genealogy.created_at, created_at_check, evidence,
    copy_of_music_id, copy_evidence, owner_nickname, first_aweme_id, first_published_at,
    source_aweme_id, source_basis, confirmed_video_count,
    genealogy.sec_uid as owner_sec_uid, videos.share_url as first_share_url
from marts.genealogy
left join marts.videos on videos.aweme_id = first_aweme_id
where $music_id is null or track_music_id = $music_id
order by track_music_id, genealogy.created_at nulls last, genealogy.music_id
