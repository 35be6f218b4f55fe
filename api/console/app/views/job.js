// A scan: its progress, which this page follows to the end, and its result; and several scans at once.
import { follow, PATHS, repeat, request, ServiceError } from "../api.js";
import { count, Foreign, moment, momentOrTime, published, publishedAt, seconds, visible } from "../format.js";
import { html, signal, useEffect, useMemo, useState } from "../html.js";
import { either, labelOf, t } from "../i18n.js";
import { link } from "../router.js";
import { isDemo, notify } from "../state.js";
import { fileView, ShareButton } from "../parts/export.js";
import { LinkButton } from "../parts/link.js";
import { Raw } from "../parts/raw.js";
import { isTrack, openJob } from "../parts/scan_request.js";
import { sortRows, Table } from "../parts/table.js";
import { Badge, Card, Copy, ErrorNote, Figures, Head, Icon, Loading, notifyError, Status } from "../parts/ui.js";
import { LinkBadge, VideoCard, VideoCell } from "../parts/video.js";
import { WatchButton } from "../parts/watch.js";
import { refusals } from "./hot.js";
import { Result, useView } from "./result/result.js";
import { Headline } from "./result/summary.js";
import "../messages/accounts.js";
import "../messages/figures.js";
import "../messages/page.js";
import "../messages/result.js";
import "../messages/scan.js";

const isOver = (job) => Boolean(job?.finished_at);
const POLL_MS = 1500;
// Errors that another request would repeat; others come from a busy or absent service.
const isFinal = (error) =>
  error.name === "AbortError" || (error instanceof ServiceError && error.status >= 400 && error.status < 429);

// Follows a job until it ends. `state` is a signal of {job, error, mode}.
class JobWatch {
  constructor(jobId, { onEnd, isStreamed = true, isShown = true } = {}) {
    this.jobId = jobId;
    this.onEnd = onEnd;
    this.isStreamed = isStreamed;
    this.isShown = isShown; // whether the request preview of the page shows its requests
    this.state = signal({ job: null, error: null, mode: "loading" });
    this.stopping = new AbortController();
    this.lastId = null;
  }

  async run() {
    try {
      await this.pollIfAnswered();
      while (!this.stopping.signal.aborted && !isOver(this.state.value.job)) await this.listen();
      if (!this.wasOver && isOver(this.state.value.job)) this.onEnd?.(this.state.value.job);
    } catch (error) {
      if (error.name !== "AbortError") this.update({ error });
    }
  }

  // Reads one stream. If there is none, polls once after a pause.
  async listen() {
    if (!this.isStreamed) {
      await this.pollLater();
      return;
    }
    try {
      this.update({ mode: "events" });
      await follow(
        `${PATHS.jobList}/${this.jobId}/events`,
        (_, job, id) => {
          this.lastId = id;
          this.take(job);
        },
        { signal: this.stopping.signal, lastId: this.lastId },
      );
      if (!isOver(this.state.value.job)) await this.poll();
    } catch (error) {
      if (isFinal(error)) throw error;
      await this.pollLater();
    }
  }

  // Polls once after a pause. A service that is away for a while is asked again.
  async pollLater() {
    this.update({ mode: "polling" });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    await this.pollIfAnswered();
  }

  async pollIfAnswered() {
    await this.poll().catch((error) => {
      if (isFinal(error)) throw error;
      if (!this.state.value.job) this.update({ error }); // until there is something to show
    });
  }

  async poll() {
    const envelope = await request(`${PATHS.jobs}/${this.jobId}`, {
      signal: this.stopping.signal,
      isShown: this.isShown,
    });
    this.take(envelope.data);
  }

  take(document) {
    const job = document.data ?? document; // an event carries the envelope of the polling document
    if (job.is_demo_data) isDemo.value = true;
    this.wasOver ??= isOver(job); // when the page opened it: then its end is no news
    this.update({ job, error: null });
  }

  async cancel() {
    const envelope = await request(`${PATHS.jobs}/${this.jobId}`, { method: "DELETE", isShown: true });
    this.take(envelope.data);
  }

  update(change) {
    this.state.value = { ...this.state.value, ...change };
  }

  stop() {
    this.stopping.abort();
  }
}

// The stages of the service in the four steps that users see, in their order.
const STEPS = {
  find: [
    "resolving",
    "track",
    "music_first_screen",
    "author_first_screens",
    "hashtag_first_screens",
    "search_pages",
    "candidates",
  ],
  details: ["video_details"],
  listen: ["confirmed_videos"],
  rank: ["account_profiles", "rankings", "job_results"],
};
const STEP_NAMES = Object.keys(STEPS);
const READS_MS = 3000;
const MOST_STREAMS = 3; // a browser opens six connections to a host, which other requests need, too
const MOST_LISTED = 100;
const SHORT = 40; // longer inputs are pasted text, not a title
const announced = new Set(); // jobs whose end the browser announces, whatever view is open then

function useJob(jobId, isStreamed = true) {
  const watch = useMemo(
    () => new JobWatch(jobId, { onEnd: (job) => notify(t(`status.${job.status}`)), isStreamed }),
    [jobId],
  );
  useEffect(() => {
    watch.run();
    return () => watch.stop();
  }, [watch]);
  return watch;
}

// Follows a job to its end independently of the view, whose own watch stops when it is left.
function announceEnd(jobId) {
  const onEnd = (job) =>
    new Notification("Sametrack", { body: `${job.input.slice(0, 60)}: ${t(`status.${job.status}`)}` });
  announced.add(jobId);
  new JobWatch(jobId, { onEnd, isStreamed: false, isShown: false }).run().finally(() => announced.delete(jobId));
}

export function JobView({ jobId, query }) {
  const watch = useJob(jobId);
  const { job, error } = watch.state.value;
  const preview = usePreview(job);
  const name = useTrackTitle(job);
  const title =
    job?.result?.music?.title ??
    job?.result?.keyword ??
    preview?.music?.title ??
    name ??
    (job && job.input.length <= SHORT ? job.input : t("job.title"));
  return html`
    <${Head} title=${visible(title).slice(0, 80)} lead=${job && html`<${Lead} job=${job} />`}>
      <div class="row no-print">
        ${job?.status === "completed" && "sort_by" in job.parameters && html`<${ScanAgain} job=${job} isFresh />`}
        ${job && html`<${Copy} text=${() => location.href} label=${t("job.copy_link")} />`}
        ${job?.result && job.result.kind !== "discovery" && html`
          <${ShareButton}
            source=${`${PATHS.jobList}/${jobId}`}
            view=${fileView(query)}
            label=${t("export.share")}
            title=${t("export.share_note")}
          />
          <${LinkButton} kind="result" id=${jobId} />
        `}
        <a class="button little wide-only" href=${link(["hot"])}>${t("job.new")}</a>
      </div>
    <//>
    <${ErrorNote} error=${error} />
    ${!job && !error && html`<${Card}><${Loading} rows=${5} tall /><//>`}
    ${job && (!isOver(job) || job.status !== "completed") && html`
      <${Progress} watch=${watch} preview=${isOver(job) ? null : preview} />
    `}
    ${
      job?.result &&
      (job.result.kind === "discovery"
        ? html`<p>${t("job.discovery")}</p>`
        : html`<${Result} key=${jobId} job=${job} query=${query} />`)
    }
    <${Raw} />
  `;
}

// The title of the track of a scan that ended without a result, as other scans know it.
function useTrackTitle(job) {
  const [title, setTitle] = useState(null);
  const needsTitle = job && isOver(job) && !job.result && job.music_id !== null;
  useEffect(() => {
    if (!needsTitle) return;
    request(PATHS.jobList, { query: { limit: MOST_LISTED } }).then(
      (envelope) => setTitle(envelope.data.tracks[job.music_id]?.title ?? null),
      () => {}, // the id stays the title
    );
  }, [needsTitle, job?.music_id]);
  return title;
}

function Lead({ job }) {
  return html`
    ${job.result?.totals && html`<${Headline} job=${job} />`}
    ${job.input.length > SHORT && !job.result && html`
      <span class="one-line small"><${Foreign} text=${job.input} /></span>
    `}
    <span class="row small">
      ${job.status === "completed"
        ? html`<span>${t("job.result_of", { time: momentOrTime(job.finished_at) })}</span>`
        : html`<${Status} status=${job.status} /><span>${moment(job.created_at)}</span>`}
      ${job.finished_at && html`
        <span>
          ${t("job.took", {
            time: seconds((new Date(job.finished_at) - new Date(job.started_at ?? job.created_at)) / 1000),
          })}
        </span>
      `}
      ${job.result && html`<${NextSteps} job=${job} />`}
      ${!job.result && html`<span class="mono tiny wide-only">${job.job_id}</span>`}
    </span>
  `;
}

export function BatchView({ ids, query }) {
  const { failed, leftOut, rest, error } = refusals.value.get(ids.join(",") || "none") ?? {
    failed: [],
    leftOut: [],
    rest: [],
  };
  const [scanned, setScanned] = useState([]); // music ids with a result
  const add = (musicId) => setScanned((known) => [...new Set([...known, musicId])]);
  return html`
    <${Head} title=${t("batch.title", { number: ids.length })} lead=${t("batch.lead")}>
      ${scanned.length > 1 && html`
        <a class="button" href=${link(["compare"], { ids: scanned.join(",") })}>${t("batch.compare")}</a>
      `}
    <//>
    ${rest.length > 0 && html`
      <${ErrorNote} error=${error} />
      <div class="note warn">
        <h2>${t("batch.not_started", { number: count(rest.length) })}</h2>
        <ul class="list small">${rest.map((line) => html`<li key=${line}><${Foreign} text=${line} /></li>`)}</ul>
      </div>
    `}
    ${leftOut.map((note) => html`
      <div class="note warn" key=${note.message}>
        <p><${Foreign} text=${either(note.message, note.message_zh)} /></p>
      </div>
    `)}
    ${failed.map((item) => html`
      <section class="stack tight" key=${item.input}>
        <h2 class="one-line"><${Foreign} text=${item.input} /></h2>
        <${ErrorNote} error=${item.error} />
      </section>
    `)}
    <div class="grid two">
      ${ids.map((id) => html`
        <${BatchPanel} key=${id} jobId=${id} query=${query} isStreamed=${ids.length <= MOST_STREAMS} onScanned=${add} />
      `)}
    </div>
    <${Raw} />
  `;
}

function BatchPanel({ jobId, query, isStreamed, onScanned }) {
  const watch = useJob(jobId, isStreamed);
  const { job, error } = watch.state.value;
  const result = job?.result;
  const scannedId = result?.music && result.music_id;
  useEffect(() => {
    if (scannedId) onScanned(scannedId);
  }, [scannedId]);
  return html`
    <section class="card">
      <header>
        <h2 class="one-line" style=${{ maxWidth: "36ch" }}>
          ${result?.music ? html`
            <a href=${link(["track", result.music_id])}>
              <${Foreign} text=${result.music.title} none=${result.music_id} />
            </a>
          ` : html`<${Foreign} text=${job?.input ?? jobId} />`}
        </h2>
        ${job && html`<${Status} status=${job.status} />`}
      </header>
      <${ErrorNote} error=${error} />
      ${!job && !error && html`<${Loading} />`}
      ${job && !result && html`<${Progress} watch=${watch} isShort />`}
      ${result && html`<${BatchResult} job=${job} query=${query} />`}
      ${job && html`
        <div class="row">
          <a class="button little" href=${link(["job", jobId], query)}>${t(result ? "batch.open" : "batch.watch")}</a>
        </div>
      `}
    </section>
  `;
}

function BatchResult({ job, query }) {
  const { result, error } = useView(job, query);
  return html`
    <${Figures}
      items=${[
        [t("fig.confirmed"), count(result.confirmed_count)],
        [t("fig.accounts"), count(result.unique_account_count)],
        [t("fig.pool"), count(result.candidate_pool_size)],
      ]}
    />
    <${ErrorNote} error=${error} />
    <ol class="list">
      ${result.aweme_list.slice(0, 5).map((video) => html`
        <li key=${video.aweme_id} class="row apart" style=${{ flexWrap: "nowrap" }}>
          <span class="one-line"><${Foreign} text=${video.desc} none=${video.aweme_id} /></span>
          <b class="num">${count(video.hot_score)}</b>
        </li>
      `)}
    </ol>
  `;
}

function Progress({ watch, preview, isShort = false }) {
  const { job, mode } = watch.state.value;
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState(null);
  const progress = job.progress;
  const share = job.status === "queued" ? 0 : Math.round(((progress.stage_index + 0.5) / progress.stage_count) * 100);
  const run = (action) => {
    setBusy(true);
    action.catch(setFault).finally(() => setBusy(false));
  };
  return html`
    <${isShort ? "div" : Card} class="stack">
      ${job.error && html`<${ErrorNote} error=${job.error} />`}
      ${job.status === "cancelled" && html`
        <div class="note warn"><h2>${t("job.cancelled")}</h2><p>${t("job.cancelled_hint")}</p></div>
      `}
      ${!isOver(job) && html`
        <div class="stack tight">
          <div class="row apart">
            <b aria-live="polite">
              ${job.cancel_requested
                ? t("job.cancelling")
                : job.status === "queued"
                  ? t(`waiting.${progress.waiting_for ?? "worker"}`)
                  : t(`stage.${progress.stage}`)}
            </b>
            <span class="small soft">
              ${progress.eta_range_s
                ? html`<${TimeLeft} range=${progress.eta_range_s} at=${progress.updated_at} />`
                : t(mode === "polling" ? "job.polling" : "job.live")}
            </span>
          </div>
          ${runNote(job) && html`<p class="small soft">${runNote(job)}</p>`}
          <div
            class="progress"
            role="progressbar"
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=${share}
            aria-label=${t("job.progress")}
          >
            <span style=${{ width: `${share}%` }}></span>
          </div>
        </div>
      `}
      ${!isShort && html`
        <ol class="steps" aria-label=${t("job.stages")}>
          ${STEP_NAMES.map((step, at) => html`<${Step} key=${step} step=${step} at=${at} job=${job} />`)}
        </ol>
      `}
      <${Figures}
        items=${[
          [t("fig.pool"), count(progress.candidate_pool_count)],
          [t("fig.confirmed"), count(Math.max(progress.confirmed_count, preview?.confirmed_count ?? 0))],
          [t("fig.details"), count(progress.detail_checked_count)],
          [t("fig.audio_checked"), count(progress.audio_checked_count)],
          [t("fig.requests"), count(progress.requests_used)],
          [
            t("fig.search_pages"),
            count(progress.search_page_count),
            t("fig.at_most_of", { total: count(job.parameters.search_request_budget) }),
          ],
        ]}
      />
      ${!isOver(job) && html`
        <div class="row">
          <button
            type="button"
            class="button little danger"
            disabled=${busy || job.cancel_requested}
            onClick=${() => run(watch.cancel())}
          >
            ${t("job.cancel")}
          </button>
          ${!isShort && html`<${Notify} jobId=${job.job_id} />`}
        </div>
      `}
      <${Preview} preview=${preview} />
      ${!isShort && !isOver(job) && html`<${SourcesRead} jobId=${job.job_id} />`}
      ${isOver(job) && job.status !== "completed" && "sort_by" in job.parameters && html`
        <div class="row"><${ScanAgain} job=${job} /></div>
      `}
      <${ErrorNote} error=${fault} />
    <//>
  `;
}

// Starts the same scan once more. Stored observations are reused, so it needs fewer requests; `isFresh`: a stored
// result does not answer it.
function ScanAgain({ job, isFresh = false }) {
  const [busy, setBusy] = useState(false);
  const target =
    job.music_id !== null || isTrack(job.input) ? { input: job.input } : { keyword: job.input, search_only: true };
  const start = () => {
    setBusy(true);
    const body = { ...job.parameters, ...target, ...(isFresh && { refresh: true }) };
    request(PATHS.jobs, { method: "POST", body, isShown: true })
      .then(openJob, notifyError)
      .finally(() => setBusy(false));
  };
  return html`
    <button type="button" class=${`button ${isFresh ? "little" : ""}`} disabled=${busy} onClick=${start}>
      ${t(busy ? "act.starting" : "job.again")}
    </button>
  `;
}

// What may come after the first scan of a track.
function NextSteps({ job }) {
  const history = job.result.discovery?.confirmed_graph_observation_history;
  if (job.music_id === null || history?.run_count !== 1) return null;
  return html`
    <span class="row no-print">
      ${t("job.first")}
      <${WatchButton} kind="track" id=${job.music_id} title=${job.result.music?.title} />
      <a href=${link(["compare"], { ids: job.music_id })}>${t("job.compare")}</a>
    </span>
  `;
}

// Details beyond the stage: a further attempt, the checkpoint it continues from, what it waits for.
function runNote(job) {
  const { attempt, attempt_count: total, continued_from: from, waiting_for: waits } = job.progress;
  return [
    attempt > 1 && t("job.attempt", { attempt: count(attempt), total: count(total) }),
    from &&
      (from.round
        ? t("job.continued_round", { stage: t(`stage.${from.stage}`), round: count(from.round) })
        : t("job.continued", { stage: t(`stage.${from.stage}`) })),
    waits && job.status === "running" && t(`waiting.${waits}`),
  ]
    .filter(Boolean)
    .join(" · ");
}

// Reads and refusals by source while the scan runs.
function SourcesRead({ jobId }) {
  const [reads, setReads] = useState([]);
  useEffect(() => {
    const stopping = new AbortController();
    const refresh = () =>
      request(`${PATHS.jobList}/${jobId}/reads`, { signal: stopping.signal }).then(
        (envelope) => setReads(envelope.data.reads),
        () => {}, // the coverage report at the end is complete
      );
    refresh();
    const timer = repeat(refresh, READS_MS);
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [jobId]);
  if (!reads.length) return null;
  return html`
    <div class="stack tight">
      <h2>${t("reads.title")}</h2>
      <ul class="reads">
        ${reads.map((read) => html`
          <li key=${`${read.surface}${read.outcome}`}>
            <span>${labelOf("surface", read.surface)}</span>
            <span class="soft num">
              ${t("reads.counts", { reads: count(read.captures), items: count(read.items) })}
            </span>
            ${read.outcome !== "ok" && html`
              <${Badge} tone=${read.outcome === "unavailable" ? "warn" : "bad"}>${labelOf("stop", read.outcome)}<//>
            `}
          </li>
        `)}
      </ul>
    </div>
  `;
}

function Step({ step, at, job }) {
  const now = job.status === "queued" ? -1 : STEP_NAMES.findIndex((name) => STEPS[name].includes(job.progress.stage));
  const state = at < now ? "done" : at === now && !isOver(job) ? "now" : "next";
  return html`
    <li data-state=${state} aria-current=${state === "now" ? "step" : undefined}>
      <${Icon} name=${{ done: "check", now: "turn", next: "dot" }[state]} spin=${state === "now"} />
      ${t(`step.${step}`)}
    </li>
  `;
}

// One estimate of the time left, which counts down until the service states the next range. `at`: when it stated it.
function TimeLeft({ range, at }) {
  const [low, high] = range;
  const end = useMemo(() => Date.now() + ((low + high) / 2) * 1000, [low, high, at]);
  const [, redraw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => redraw((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = Math.round((end - Date.now()) / 1000);
  if (left < 5) return t("job.eta_soon");
  if (left < 60) return t("job.eta_seconds", { number: Math.ceil(left / 5) * 5 });
  return t("job.eta_minutes", { number: Math.round(left / 60) });
}

function Notify({ jobId }) {
  const [isOn, setOn] = useState(announced.has(jobId));
  if (!("Notification" in window) || Notification.permission === "denied") return null;
  const enable = async () => {
    if (Notification.permission !== "granted" && (await Notification.requestPermission()) !== "granted") return;
    announceEnd(jobId);
    setOn(true);
  };
  return isOn ? html`<${Badge} tone="accent">${t("job.will_notify")}<//>` : html`
    <button type="button" class="button little" onClick=${enable}>${t("job.notify")}</button>
  `;
}

const PREVIEW_MS = 2500;

// The preview of a job, read again every few seconds while it runs; null before its first rows.
function usePreview(job) {
  const [preview, setPreview] = useState(null);
  const isRunning = job?.status === "running";
  useEffect(() => {
    if (!isRunning) return undefined;
    const stopping = new AbortController();
    const refresh = () =>
      request(`${PATHS.jobList}/${job.job_id}/preview`, { signal: stopping.signal }).then(
        (envelope) => {
          if (envelope.data.music) setPreview(envelope.data);
        },
        () => {}, // the result at the end is complete
      );
    refresh();
    const timer = repeat(refresh, PREVIEW_MS);
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [job?.job_id, isRunning]);
  return preview;
}

const previewColumns = () => [
  {
    key: "rank",
    label: "#",
    num: true,
    ascends: true,
    value: (row) => row.rank,
    render: (row) => html`<span class="rank">${row.rank}</span>`,
  },
  {
    key: "video",
    label: t("col.video"),
    class: "cell-title",
    value: (row) => row.desc,
    render: (row) => html`<${VideoCell} video=${row} />`,
  },
  {
    key: "link",
    label: t("filter.link"),
    value: (row) => labelOf("link", row.link_type),
    render: (row) => html`<${LinkBadge} video=${row} />`,
  },
  {
    key: "hot",
    label: t("stat.hot_score"),
    num: true,
    value: (row) => row.hot_score,
    render: (row) => html`<b>${count(row.hot_score)}</b>`,
  },
  { key: "digg", label: t("stat.digg_count"), num: true, value: (row) => row.statistics.digg_count },
  { key: "date", label: t("col.published"), num: true, value: publishedAt, render: published },
];

function Preview({ preview }) {
  const [order, setOrder] = useState("");
  if (!preview?.returned_count) return null;
  const { aweme_list: rows, confirmed_count: confirmed } = preview;
  const columns = previewColumns();
  return html`
    <section class="stack tight" aria-labelledby="so-far">
      <div class="row">
        <h2 id="so-far">${t("preview.title", { number: count(confirmed) })}</h2>
        <${Badge} tone="info">${t("preview.preliminary")}<//>
      </div>
      <p class="small soft">
        ${t(rows.length < confirmed ? "preview.note_cut" : "preview.note", { shown: count(rows.length) })}
      </p>
      <${Table}
        rows=${sortRows(rows, columns, order)}
        columns=${columns}
        keyOf=${(row) => row.aweme_id}
        caption=${t("preview.caption")}
        order=${order}
        onOrder=${setOrder}
        card=${(video) => html`<${VideoCard} video=${video} />`}
      />
    </section>
  `;
}
