-- title: Confirmed videos by day of publication
-- description: Videos that rankings contain and that were published on or after a day.
-- parameter: since date = 2025-01-01: first day, in UTC
select distinct music_id, aweme_id, to_timestamp(create_time) as published_at, link_type
from marts.rankings
where to_timestamp(create_time) >= $since::date
order by published_at desc, aweme_id, link_type
