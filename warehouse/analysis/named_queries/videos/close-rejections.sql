-- title: Rejected pairs with the highest score
-- description: Candidates that nearly passed the audio comparison: worth listening to.
-- parameter: top integer = 20: number of pairs
select track_music_id, candidate_aweme_id, reference_aweme_id, score, chroma_distance,
    mfcc_distance, reason, observation, comparison_id
from marts.audio_comparisons
where verdict = 'rejected'
order by score desc nulls last, comparison_id
limit $top
