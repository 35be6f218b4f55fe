-- title: Requests by day and surface
-- description: What collecting cost the platform, including retries.
select observed_at::date as day, surface, count(*) as captures,
    sum(request_count)::bigint as requests
from raw.captures
group by all
order by day desc, requests desc, surface
