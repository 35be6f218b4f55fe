// List of the newest jobs.
import { PATHS, request } from "../api.js";
import { Foreign, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { link } from "../router.js";
import { Card, Empty, ErrorNote, Loading, Status } from "../parts/ui.js";

export function Recent({ limit = 8 }) {
  const [state, setState] = useState({});
  useEffect(() => {
    const stopping = new AbortController();
    request(PATHS.jobList, { query: { limit }, signal: stopping.signal }).then((envelope) => setState({ jobs: envelope.data.jobs }), (error) => { if (error.name !== "AbortError") setState({ error }); });
    return () => stopping.abort();
  }, [limit]);
  return html`<${Card} title=${t("recent.title")} aside=${html`<a class="small" href=${link(["operator"])}>${t("recent.all")}</a>`}>
    ${state.error && html`<${ErrorNote} error=${state.error} />`}
    ${!state.jobs && !state.error && html`<${Loading} />`}
    ${state.jobs && !state.jobs.length && html`<${Empty} title=${t("recent.empty")}>${t("recent.empty_hint")}<//>`}
    ${state.jobs?.length > 0 && html`<${JobList} jobs=${state.jobs} />`}<//>`;
}

export function JobList({ jobs }) {
  return html`<ul class="list">${jobs.map((job) => html`<li key=${job.job_id} class="row apart">
    <a href=${link(["job", job.job_id])} style=${{ maxWidth: "64ch", minWidth: 0 }} class="one-line"><${Foreign} text=${job.input} /></a>
    <span class="row small soft"><span>${moment(job.created_at)}</span><${Status} status=${job.status} /></span></li>`)}</ul>`;
}
