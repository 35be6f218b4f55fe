-- title: Songs that climbed
-- title_zh: 排名上升的歌曲
-- description: The biggest steps up against the previous issue, among the issues that were read.
-- description_zh: 在已读取的各期榜单中，与上一期相比上升最多的歌曲。
-- parameter: top integer = 20: number of songs / 歌曲数
select chart_date, volid, title, artist, previous_rank, rank, previous_rank - rank as steps
from (
    select * replace (coalesce(listed_date, chart_date) as chart_date)
    from seen.released_songs
    qualify row_number() over (
        partition by volid, rank order by observed_at desc, committed_at desc, capture_id
    ) = 1
)
where previous_rank > rank
order by steps desc, chart_date desc nulls last, volid, rank
limit $top
