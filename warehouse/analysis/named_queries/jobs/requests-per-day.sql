-- title: Requests by day and surface
-- title_zh: 每日各来源的请求数
-- description: What collecting cost the platform, including retries.
-- description_zh: 采集给平台带来的请求量，包括重试。
select observed_at::date as day, surface,
    count(*) filter (capture_id not in (from seen.replayed)) as captures,
    sum(request_count)::bigint as requests
from raw.captures
group by all
order by day desc, requests desc, surface
