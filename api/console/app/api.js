// Everything that is asked of the service: one request, one stream, one blob. The token goes into
// a header only.
import { batch } from "./html.js";
import { isDemo, isExperimental, isOnline, lastExchange, needsToken, setUp, token } from "./state.js";

export const PATHS = {
  sec: "/api/v1/vidplat/web/get_sec_user_id",
  profile: "/api/v1/vidplat/app/v3/handler_user_profile",
  posts: "/api/v1/vidplat/app/v3/fetch_user_post_videos",
  metrics: "/api/v1/vidplat/app/v3/fetch_user_metrics",
  batch: "/api/v1/vidplat/app/v3/fetch_music_hot_videos_batch",
  jobs: "/api/v1/vidplat/app/v3/music_collection_jobs",
  chart: "/api/v1/music/chartsrc/top500/history",
  chartSongs: "/api/v1/sametrack/chart/songs",
  jobList: "/api/v1/sametrack/jobs",
  comparisons: "/api/v1/sametrack/comparisons",
  doctor: "/api/v1/sametrack/doctor",
  reference: "/api/v1/sametrack/reference",
  series: "/api/v1/sametrack/series",
  exports: "/api/v1/sametrack/export",
  storage: "/api/v1/sametrack/storage",
  watchlists: "/api/v1/sametrack/watchlists",
};

// What the service said when it said no. `error` is its error document.
export class Refusal extends Error {
  constructor(status, envelope) {
    super(envelope?.data?.error?.detail ?? envelope?.message ?? `HTTP ${status}`);
    this.status = status;
    this.envelope = envelope;
    this.error = envelope?.data?.error ?? null;
    this.type = this.error?.type ?? "unknown";
  }
}

export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${path}?${search}` : path;
}

function headers(more = {}) {
  return token.value ? { ...more, Authorization: `Bearer ${token.value}` } : more;
}

// An answer's envelope. Throws Refusal for what the service refuses, TypeError when it is not there.
export async function ask(path, { method = "GET", query, body, signal, isShown = false } = {}) {
  const place = address(path, query);
  const started = performance.now();
  const options = { method, headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }), signal, credentials: "omit", cache: "no-store" };
  if (body !== undefined) options.body = JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(place, options);
  } catch (error) {
    if (error.name !== "AbortError") isOnline.value = false;
    throw error;
  }
  const envelope = await answer.json().catch((error) => {
    if (error.name === "AbortError") throw error; // left while the answer came
    return null;
  });
  batch(() => {
    isOnline.value = true;
    learn(answer.status, envelope);
    if (isShown) {
      const ms = Math.round(performance.now() - started);
      lastExchange.value = { method, place, body, status: answer.status, ms, envelope };
    }
  });
  if (!answer.ok || envelope === null) throw new Refusal(answer.status, envelope);
  return envelope;
}

function learn(status, envelope) {
  if (status === 401) needsToken.value = true;
  const refused = envelope?.data?.error;
  if (refused?.type === "profile_not_chosen") setUp.value = refused;
  else if (status < 400) setUp.value = null;
  if (envelope?.data?.is_demo_data === true || envelope?.data?.data_provider === "mock") isDemo.value = true;
  if (envelope?.data?.is_experimental === true) isExperimental.value = true;
}

// A picture or a sound as an address of this page's own. The caller revokes it.
export async function fetchBlob(path) {
  return (await fetchRaw(path)).blob();
}
export async function fetchRaw(path) {
  const answer = await fetch(path, { headers: headers(), credentials: "omit" });
  if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => null));
  return answer;
}

// Server-sent events by fetch, so that the token stays in a header. Calls `hear(name, data)`.
export async function follow(path, hear, { signal, lastId } = {}) {
  const more = lastId ? { "Last-Event-ID": lastId } : {};
  const answer = await fetch(path, { headers: headers({ Accept: "text/event-stream", ...more }), signal, credentials: "omit", cache: "no-store" });
  if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => null));
  if (answer.status === 204) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    kept += value;
    const parts = kept.split(/\r?\n\r?\n/);
    kept = parts.pop();
    for (const part of parts) deliver(part, hear);
  }
}

function deliver(part, hear) {
  const event = { name: "message", data: [], id: null };
  for (const line of part.split(/\r?\n/)) {
    const cut = line.indexOf(":");
    if (cut <= 0) continue;
    const field = line.slice(0, cut);
    const value = line.slice(cut + 1).replace(/^ /, "");
    if (field === "event") event.name = value;
    if (field === "data") event.data.push(value);
    if (field === "id") event.id = value;
  }
  if (event.data.length) hear(event.name, JSON.parse(event.data.join("\n")), event.id);
}
