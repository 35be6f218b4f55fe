-- title: Genealogy of music ids
-- title_zh: 音乐 ID 的谱系
-- description: The music ids of each recording by birth: kind, uploader, first video, and which older one each copies.
-- description_zh: 同一录音的各个音乐 ID，按产生时间排列：类型、上传者、首个作品，以及复制自哪个更早的 ID。
-- parameter: music_id text: only this track / 仅此音乐
select track_music_id, music_id, title, kind, created_at, created_at_check, evidence,
    copy_of_music_id, copy_evidence, owner_nickname, first_aweme_id, first_published_at,
    source_aweme_id, source_basis, confirmed_video_count
from marts.genealogy
where $music_id is null or track_music_id = $music_id
order by track_music_id, created_at nulls last, music_id
