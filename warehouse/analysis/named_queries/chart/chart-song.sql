-- title: Positions of a song on the chart
-- description: Songs whose title contains a text, with the rank in each issue that was read.
-- parameter: title text = : part of the title; without it all songs
select chart_date, volid, rank, title, artist
from seen.chart_songs
where contains(lower(title), lower($title))
qualify row_number() over (partition by volid, rank order by observed_at desc) = 1
order by chart_date desc nulls last, volid desc, rank
