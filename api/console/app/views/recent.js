// List of the newest jobs.
import { PATHS, request } from "../api.js";
import { Foreign, moment, visible } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { link } from "../router.js";
import { Intro } from "./intro.js";
import { Card, ErrorNote, Loading, Status } from "../parts/ui.js";
import "../messages/scan.js";

const POLL_MS = 5000;
const LIVE = new Set(["queued", "running"]);

// The newest jobs as {jobs, tracks, error}, read again while one of them goes on.
export function useJobs(limit, status = "") {
  const [state, setState] = useState({});
  const isLive = Boolean(state.jobs?.some((job) => LIVE.has(job.status)));
  useEffect(() => {
    const stopping = new AbortController();
    const read = () =>
      request(PATHS.jobList, { query: { limit, status }, signal: stopping.signal }).then(
        (envelope) => setState({ status, ...envelope.data }),
        (error) => {
          if (error.name !== "AbortError")
            setState((known) => ({ ...(known.status === status && known), status, error }));
        },
      );
    read();
    const timer = isLive ? setInterval(read, POLL_MS) : null;
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [limit, status, isLive]);
  return state;
}

export function Recent({ limit = 8 }) {
  const state = useJobs(limit);
  if (state.jobs && !state.jobs.length) return html`<${Intro} />`;
  return html`
    <${Card}
      title=${t("recent.title")}
      aside=${html`<a class="small" href=${link(["operator"])}>${t("recent.all")}</a>`}
    >
      ${state.error && html`<${ErrorNote} error=${state.error} />`}
      ${!state.jobs && !state.error && html`<${Loading} />`}
      ${state.jobs?.length > 0 && html`<${JobList} jobs=${state.jobs} tracks=${state.tracks} />`}
    <//>
  `;
}

// `tracks`: title and artist by music id, as the service knows them.
export function JobList({ jobs, tracks }) {
  return html`
    <ul class="list">
      ${jobs.map((job) => html`
        <li key=${job.job_id} class="row apart">
          <a
            href=${link(["job", job.job_id])}
            style=${{ maxWidth: "64ch", minWidth: 0 }}
            class="one-line"
            title=${visible(job.input)}
          >
            <${JobName} job=${job} track=${tracks[job.music_id]} />
          </a>
          <span class="row small soft"><span>${moment(job.created_at)}</span><${Status} status=${job.status} /></span>
        </li>
      `)}
    </ul>
  `;
}

// What a job is about: title and artist of its track, or what was typed.
export function JobName({ job, track }) {
  if (!track?.title) return html`<${Foreign} text=${job.input} />`;
  return html`
    <${Foreign} text=${track.title} />
    ${track.author && html`${" "}<span class="soft">· <${Foreign} text=${track.author} /></span>`}
  `;
}
