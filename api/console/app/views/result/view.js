// How a request views a result: order, number of rows and viral videos. A job keeps the view of the request that
// started it; an address holds what another request, or the reader, wants instead.
import { PATHS, address, request } from "../../api.js";
import { useEffect, useState } from "../../html.js";
import { go } from "../../router.js";

export const BORN = "born"; // an order of the page alone: by the birth of the sound
const PARTS = { sort: "sort_by", rows: "count", viral: "viral_only", threshold: "viral_threshold" }; // of an address
const written = (value) => (typeof value === "boolean" ? Number(value) : value);

// The parts of an address for the view of a request, as far as it differs from `own`, that of the job.
export function viewParts(asked, own = {}) {
  return Object.fromEntries(
    Object.entries(PARTS).map(([part, name]) => [part, asked[name] === own[name] ? "" : written(asked[name])]),
  );
}

// Opens the job that answers a request: an earlier one, if its stored result does.
export function openJob({ params, data }) {
  go(["job", data.job_id], viewParts(params, data.parameters));
}

// The view that an address asks for; `own`: the parameters of the job.
function viewOf(query, own) {
  const isByBirth = query.sort === BORN;
  return {
    isByBirth,
    sort_by: query.sort && !isByBirth ? query.sort : own.sort_by,
    count: query.rows ? Number(query.rows) : own.count,
    viral_only: query.viral ? query.viral === "1" : own.viral_only,
    viral_threshold: query.threshold ? Number(query.threshold) : own.viral_threshold,
  };
}

// The result of a job as an address views it: {result, view, own, source, error, change}. The service ranks it;
// `source` is where from. `own`: the parameters of the job. `change(part, more)` goes to another view, with further
// parts of the address.
export function useView(job, query) {
  const own = job.parameters;
  const view = viewOf(query, own);
  const asked = Object.fromEntries(
    Object.values(PARTS)
      .filter((name) => view[name] !== own[name])
      .map((name) => [name, view[name]]),
  );
  const isOwn = !Object.keys(asked).length;
  const source = address(`${PATHS.jobList}/${job.job_id}/ranking`, asked);
  const [other, setOther] = useState(null); // the result in another view than that of the job
  const [error, setError] = useState(null);
  useEffect(() => {
    setError(null); // of a view that is left
    if (isOwn) {
      setOther(null);
      return undefined;
    }
    const stopping = new AbortController();
    request(source, { signal: stopping.signal }).then(
      (envelope) => setOther(envelope.data.result),
      (failed) => {
        if (failed.name !== "AbortError") setError(failed);
      },
    );
    return () => stopping.abort();
  }, [source]);
  const change = (part, more) => {
    const next = { ...view, ...part };
    go(["job", job.job_id], { ...query, ...more, ...viewParts(next, own), ...(next.isByBirth && { sort: BORN }) });
  };
  return { result: other ?? job.result, view, own, source, error, change };
}
