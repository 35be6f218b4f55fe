-- title: What scans read, and why reading stopped
-- title_zh: 扫描读取的内容与停止原因
-- description: The coverage of all jobs, or of one, by source and reason.
-- description_zh: 所有任务或指定任务的覆盖情况，按来源和原因统计。
-- parameter: job_id text: only this job / 仅此任务
select surface, stop_reason, count(distinct job_id) as jobs, sum(requests)::bigint as requests,
    sum(new_items)::bigint as new_items
from marts.coverage
where $job_id is null or job_id = $job_id
group by surface, stop_reason
order by surface, stop_reason
