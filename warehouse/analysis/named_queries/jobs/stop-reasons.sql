-- title: What scans read, and why reading stopped
-- description: The coverage of all jobs, or of one, by source and reason.
-- parameter: job_id text: only this job
select surface, stop_reason, count(distinct job_id) as jobs, sum(requests)::bigint as requests,
    sum(new_items)::bigint as new_items
from marts.coverage
where $job_id is null or job_id = $job_id
group by surface, stop_reason
order by surface, stop_reason
