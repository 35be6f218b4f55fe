-- title: Refused and failed captures
-- description: Attempts that gave no data, by day, surface and the platform's own reason.
select observed_at::date as day, surface, outcome, reason, http_status, count(*) as captures
from raw.captures
where outcome not in ('ok', 'unavailable')
group by all
order by day desc, captures desc, surface, outcome, reason, http_status
