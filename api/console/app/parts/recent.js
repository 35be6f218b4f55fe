// The newest scans as cards, and lists of jobs. Before the first scan: how a scan works, with an example that starts
// with one click.
import { PATHS, repeat, request, unlessAborted } from "../api.js";
import { count, day, Foreign, moment, momentOrTime, visible } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { link } from "../router.js";
import { Picture } from "./media/picture.js";
import { openJob } from "./scan_request.js";
import { Badge, Card, ErrorNote, Loading, Status } from "./ui.js";
import "../messages/page.js";
import "../messages/scan.js";

const POLL_MS = 5000;

// The newest jobs as {jobs, tracks, error}, read again while one of them goes on.
export function useJobs(limit, status = "") {
  const [state, setState] = useState({});
  const isLive = Boolean(state.jobs?.some((job) => !job.finished_at));
  useEffect(() => {
    const stopping = new AbortController();
    const read = () =>
      request(PATHS.jobList, { query: { limit, status }, signal: stopping.signal }).then(
        (envelope) => setState({ status, ...envelope.data }),
        unlessAborted((error) => setState((current) => ({ ...(current.status === status && current), status, error }))),
      );
    read();
    const timer = isLive ? repeat(read, POLL_MS) : null;
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [limit, status, isLive]);
  return state;
}

const MOST_JOBS = 50; // among which the scan before of a track is looked for
const MOST_CARDS = 8;

export function Recent() {
  const { jobs, tracks, error } = useJobs(MOST_JOBS);
  if (jobs && !jobs.length) return html`<${Intro} />`;
  return html`
    <${Card}
      title=${t("recent.title")}
      aside=${html`<a class="small" href=${link(["operator"])}>${t("recent.all")}</a>`}
    >
      ${error && html`<${ErrorNote} error=${error} />`}
      ${!jobs && !error && html`<${Loading} />`}
      ${jobs && html`
        <ul class="scans">
          ${newestScans(jobs).map(({ job, before }) => html`
            <li key=${job.job_id}><${ScanCard} job=${job} before=${before} track=${tracks[job.music_id]} /></li>
          `)}
        </ul>
      `}
    <//>
  `;
}

// The newest scan of each track or song title, with the completed scan before it.
function newestScans(jobs) {
  const scans = new Map();
  for (const job of jobs) {
    const subject = job.music_id ?? job.input;
    const newest = scans.get(subject);
    if (!newest) scans.set(subject, { job, before: null });
    else if (!newest.before && job.status === "completed") newest.before = job;
  }
  return [...scans.values()].slice(0, MOST_CARDS);
}

function ScanCard({ job, before, track }) {
  return html`
    <a class="scan" href=${link(["job", job.job_id])} title=${visible(job.input)}>
      <${Picture} kind="track" id=${job.music_id} name=${track?.title} />
      <span class="stack tight">
        <b class="one-line"><${JobName} job=${job} track=${track} /></b>
        <span class="small soft">
          ${job.status === "completed" && job.music_id
            ? html`<${ScanChange} job=${job} before=${before} />`
            : html`<${Status} status=${job.status} />`}
          ${" "}${momentOrTime(job.finished_at ?? job.created_at)}
        </span>
      </span>
    </a>
  `;
}

// The number of videos of a scan, and how much it differs from that of the scan before.
function ScanChange({ job, before }) {
  const [now, then] = [job, before].map((scan) => scan?.progress.confirmed_count);
  const change = then === undefined ? 0 : now - then;
  const signed = `${change > 0 ? "+" : "−"}${count(Math.abs(change))}`;
  return html`
    <b>${t("recent.videos", { number: count(now) })}</b>
    ${change !== 0 && html`
      ${" "}
      <${Badge} tone=${change > 0 ? "good" : "warn"} bare>
        ${t("recent.change", { change: signed, day: momentOrTime(before.finished_at, day) })}
      <//>
    `}
    ${" · "}
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

// Title and artist of the track of a job, or its input.
function JobName({ job, track }) {
  if (!track?.title) return html`<${Foreign} text=${job.input} />`;
  return html`
    <${Foreign} text=${track.title} />
    ${track.author && html`${" "}<span class="soft">· <${Foreign} text=${track.author} /></span>`}
  `;
}

const WAVE = [6, 14, 22, 12, 26, 18, 8, 16, 24, 10];
const wave = (x, y, color) =>
  WAVE.map((height, at) => html`
    <rect key=${at} x=${x + at * 9} y=${y - height / 2} width="5" height=${height} rx="2.500" fill=${color} />
  `);

const PICTURES = {
  collect: () => html`
    <circle cx="40" cy="60" r="16" fill="var(--c1)" />
    <path d="M36 66v-12l10-2v11" fill="none" stroke="var(--card)" stroke-width="2.500" />
    ${[20, 47, 74, 101].map((y, at) => html`
      <g key=${y}>
        <path d=${`M58 60C84 60 84 ${y} 104 ${y}`} fill="none" stroke="var(--edge)" stroke-width="1.500" />
        <rect x="106" y=${y - 9} width="92" height="18" rx="5" fill="var(--sunk)" stroke="var(--line)" />
        <circle cx="117" cy=${y} r="4" fill=${`var(--c${at + 1})`} />
        <rect x="127" y=${y - 3} width=${58 - at * 8} height="6" rx="3" fill="var(--edge)" opacity="0.6" />
      </g>
    `)}
  `,
  compare: () => html`
    ${wave(16, 36, "var(--c1)")}
    ${wave(70, 84, "var(--c2)")}
    <path d="M70 16v88M106 16v88" stroke="var(--edge)" stroke-dasharray="4 3" />
    <circle cx="188" cy="60" r="15" fill="var(--good)" />
    <path d="M181 60l5 5 9-10" fill="none" stroke="var(--card)" stroke-width="3" stroke-linecap="round" />
  `,
  rank: () => html`
    ${[
      [150, 1],
      [112, 2],
      [84, 3],
      [52, 4],
    ].map(([wide, rank]) => html`
      <g key=${rank}>
        <text x="14" y=${rank * 26 - 1} font-size="13" fill="var(--soft)">${rank}</text>
        <rect
          x="30"
          y=${rank * 26 - 13}
          width=${wide}
          height="15"
          rx="4"
          fill="var(--c1)"
          opacity=${1.1 - rank * 0.16}
        />
      </g>
    `)}
    <path d="M30 116h150" stroke="var(--edge)" stroke-dasharray="3 3" />
  `,
};

function Intro() {
  const [example, setExample] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    request(PATHS.example).then(
      (envelope) => setExample(envelope.data),
      () => {}, // without an example the page is complete
    );
  }, []);
  const start = () => {
    setBusy(true);
    request(PATHS.jobs, { method: "POST", body: { input: example.input, candidate_limit: 60 }, isShown: true })
      .then(openJob, setError)
      .finally(() => setBusy(false));
  };
  return html`
    <${Card} title=${t("intro.title")}>
      <ol class="intro">
        ${Object.entries(PICTURES).map(([name, draw]) => html`
          <li key=${name}>
            <svg viewBox="0 0 212 120" role="img" aria-label=${t(`intro.${name}`)}>${draw()}</svg>
            <h3>${t(`intro.${name}`)}</h3>
            <p class="small soft">${t(`intro.${name}_text`)}</p>
          </li>
        `)}
      </ol>
      ${example?.input && html`
        <div class="row">
          <button type="button" class="button main-act" disabled=${busy} onClick=${start}>
            ${t(busy ? "act.starting" : "intro.start")}
          </button>
          <span class="small soft">
            ${example.title && html`<${Foreign} text=${example.title} /> ·${" "}`}
            ${t("intro.start_hint")}
          </span>
        </div>
      `}
      <${ErrorNote} error=${error} />
    <//>
  `;
}
