-- title: Positions of a song on the chart
-- title_zh: 歌曲的榜单排名
-- description: Songs whose title contains a text, with the rank in each issue that was read.
-- description_zh: 标题包含指定文字的歌曲，及其在已读取各期中的排名。
-- parameter: title text = : part of the title; without it all songs / 标题中的文字；不填则为全部歌曲
select chart_date, volid, rank, title, artist
from (
    select * replace (coalesce(listed_date, chart_date) as chart_date)
    from seen.released_songs
    qualify row_number() over (
        partition by volid, rank order by observed_at desc, committed_at desc, capture_id
    ) = 1
)
where contains(lower(title), lower($title))
order by chart_date desc nulls last, volid desc, rank
