-- title: Rejected pairs with the highest score
-- title_zh: 得分最高的未匹配对
-- description: Candidates that nearly passed the audio comparison: worth listening to.
-- description_zh: 差一点通过音频比对的候选作品，值得试听。
-- parameter: top integer = 20: number of pairs / 比对数
select track_music_id, candidate_aweme_id, reference_aweme_id, score, chroma_distance,
    mfcc_distance, reason, observation, comparison_id
from marts.audio_comparisons
where verdict = 'rejected'
order by score desc nulls last, comparison_id
limit $top
