-- One row per source of a job and stop reason, in the order they first appear: the rows of
-- marts.coverage. `reads` has an entry for each time that a source was read.
select
    surface,
    sum(requests)::bigint as requests,
    sum(pages)::bigint as pages,
    sum(items)::bigint as items,
    sum(new_items)::bigint as new_items,
    sum(foreign_rows)::bigint as foreign_rows,
    stop_reason
from reads
group by surface, stop_reason
order by min(position)
