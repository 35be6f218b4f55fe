-- title: Refused and failed captures
-- title_zh: 被拒绝和失败的读取
-- description: Attempts that gave no data, by day, surface and the platform's own reason.
-- description_zh: 未取得数据的读取，按日期、来源和平台给出的原因统计。
select observed_at::date as day, surface, outcome, reason, http_status, count(*) as captures
from raw.captures
where outcome not in ('ok', 'unavailable') and capture_id not in (from seen.replayed)
group by all
order by day desc, captures desc, surface, outcome, reason, http_status
