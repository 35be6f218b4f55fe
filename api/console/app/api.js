// HTTP access to the service: session, JSON requests, file downloads and event streams. The browser
// adds the cookie of the session to requests to this service alone.
import { batch } from "./html.js";
import { searchOf } from "./router.js";
import { isDemo, isExperimental, isOnline, isSignedOut, lastExchange, needsToken, session, setUp } from "./state.js";

export const PATHS = {
  alertChannels: "/api/v1/sametrack/alert_channels",
  sec: "/api/v1/vidplat/web/get_sec_user_id",
  profile: "/api/v1/vidplat/app/v3/handler_user_profile",
  hashtag: "/api/v1/vidplat/app/v3/fetch_hashtag_video_list",
  posts: "/api/v1/vidplat/app/v3/fetch_user_post_videos",
  metrics: "/api/v1/vidplat/app/v3/fetch_user_metrics",
  batch: "/api/v1/vidplat/app/v3/fetch_music_hot_videos_batch",
  jobs: "/api/v1/vidplat/app/v3/music_collection_jobs",
  chart: "/api/v1/music/chartsrc/top500/history",
  chartLinks: "/api/v1/sametrack/chart/links",
  chartSongs: "/api/v1/sametrack/chart/songs",
  chartTracks: "/api/v1/sametrack/chart/tracks",
  jobList: "/api/v1/sametrack/jobs",
  catalogs: "/api/v1/sametrack/catalogs",
  comparisons: "/api/v1/sametrack/comparisons",
  doctor: "/api/v1/sametrack/doctor",
  reference: "/api/v1/sametrack/reference",
  series: "/api/v1/sametrack/series",
  example: "/api/v1/sametrack/example",
  exports: "/api/v1/sametrack/export",
  notes: "/api/v1/sametrack/notes",
  pictures: "/api/v1/sametrack/pictures",
  queries: "/api/v1/sametrack/queries",
  settings: "/api/v1/sametrack/settings",
  shared: "/api/v1/sametrack/shared",
  sql: "/api/v1/sametrack/sql",
  tables: "/api/v1/sametrack/tables",
  tracks: "/api/v1/sametrack/tracks",
  storage: "/api/v1/sametrack/storage",
  videos: "/api/v1/sametrack/videos",
  watchlists: "/api/v1/sametrack/watchlists",
};

// An error response of the service. `error` is its error document.
export class ServiceError extends Error {
  constructor(status, envelope) {
    super(envelope?.data?.error?.detail ?? envelope?.message ?? `HTTP ${status}`);
    this.status = status;
    this.envelope = envelope;
    this.error = envelope?.data?.error ?? null;
    this.type = this.error?.type ?? "unknown";
  }
}

export function address(path, query = {}) {
  const search = searchOf(query);
  return search ? `${path}?${search}` : path;
}

const SESSION = "/session";
const OWN = { credentials: "same-origin", cache: "no-store" };
const jsonBody = (body) =>
  body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };

// Reads whether a token is required, and which role this browser has.
export async function loadSession() {
  const response = await fetch(SESSION, OWN).catch(() => null);
  if (response?.ok) learnSession(await response.json());
}
// A missing role means that the session ended elsewhere: in another tab, or because it or its token expired.
function learnSession(latest) {
  if (session.value.role && !latest.role) isSignedOut.value = true;
  session.value = latest;
}
// Exchanges a token for a session. Returns false if the token is not valid. Throws as `request` does.
export async function signIn(token, keep) {
  const response = await fetch(SESSION, { ...OWN, method: "POST", ...jsonBody({ token, keep }) });
  if (response.status === 401) return false;
  session.value = await answerOf(response);
  isSignedOut.value = false;
  endSignIn(true);
  return true;
}
// Requests that were refused for want of a session wait until the user has signed in, and are then sent again: what
// was typed stays where it is. Signing in can also be declined.
let signInCount = 0;
let waiting = null; // {promise, resolve} while a session is needed
export function endSignIn(isSignedIn) {
  if (isSignedIn) signInCount += 1;
  needsToken.value = false;
  waiting?.resolve(isSignedIn);
  waiting = null;
}
function untilSignedIn() {
  learnSession({ ...session.value, role: null });
  needsToken.value = true;
  if (!waiting) {
    waiting = {};
    waiting.promise = new Promise((resolve) => {
      waiting.resolve = resolve;
    });
  }
  return waiting.promise;
}
// Calls `read` every so many milliseconds, but not while the requests before wait for a session.
export function repeat(read, ms) {
  return setInterval(() => {
    if (!needsToken.value) read();
  }, ms);
}
// Sends a request, and again once a session that it needs has begun. `begun`: the response of one sent before.
async function send(url, options, begun) {
  for (let response = begun; ; response = undefined) {
    const countBefore = signInCount;
    const answer = await (response ?? fetch(url, options));
    if (answer.status !== 401 || !(signInCount > countBefore || (await untilSignedIn()))) return answer;
  }
}

export async function signOut() {
  session.value = await answerOf(await fetch(SESSION, { ...OWN, method: "DELETE" }));
  isSignedOut.value = true;
}
async function answerOf(response) {
  const envelope = await response.json().catch(() => null);
  if (!response.ok || envelope === null) throw new ServiceError(response.status, envelope);
  return envelope;
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);
// A page of the Dagster UI, which shows runs under the ids of their jobs; null if its address is unknown.
// A session belongs to one host name, so on this machine the link takes the name of this page.
export function dagsterPage(path = "") {
  if (!session.value.dagster_url) return null;
  const page = new URL(path, session.value.dagster_url);
  if (!/^https?:$/.test(page.protocol)) return null;
  if (LOOPBACK.has(page.hostname) && LOOPBACK.has(location.hostname)) page.hostname = location.hostname;
  return page.href;
}

// Reads that began before their view was loaded, by address.
const earlyReads = new Map();
export function beginRead(path) {
  const response = fetch(path, OWN);
  response.catch(() => {}); // `request` reports the failure
  earlyReads.set(path, response);
}
function takeBegun(path, method) {
  const response = method === "GET" ? earlyReads.get(path) : undefined;
  earlyReads.delete(path);
  return response;
}

// For the second argument of `then`: reports an error, unless the view was left and aborted its read itself.
export const unlessAborted = (report) => (error) => {
  if (error.name !== "AbortError") report(error);
};

// Returns the response envelope. Throws ServiceError for error responses and TypeError if the service is unreachable.
export async function request(path, { method = "GET", query, body, signal, isShown = false } = {}) {
  const url = address(path, query);
  const started = performance.now();
  const options = { ...OWN, method, ...jsonBody(body), signal };
  let response;
  try {
    response = await send(url, options, takeBegun(url, method));
  } catch (error) {
    if (error.name !== "AbortError") isOnline.value = false;
    throw error;
  }
  const envelope = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error; // the view was left while the response arrived
    return null;
  });
  batch(() => {
    isOnline.value = true;
    updateState(response.status, envelope);
    if (isShown) {
      const ms = Math.round(performance.now() - started);
      lastExchange.value = { method, place: url, body, status: response.status, ms, envelope };
    }
  });
  if (!response.ok || envelope === null) throw new ServiceError(response.status, envelope);
  return envelope;
}

function updateState(status, envelope) {
  const refused = envelope?.data?.error;
  if (refused?.type === "profile_not_chosen") setUp.value = refused;
  else if (status < 400) setUp.value = null;
  if (envelope?.data?.is_demo_data === true || envelope?.data?.data_provider === "mock") isDemo.value = true;
  if (envelope?.data?.is_experimental === true) isExperimental.value = true;
}

// Fetches an image or a sound as a blob, so that a refusal can be shown.
export async function fetchBlob(path) {
  return (await fetchFile(path)).blob();
}
export async function fetchFile(path, body) {
  const method = body === undefined ? "GET" : "POST";
  const response = await send(path, { credentials: "same-origin", method, ...jsonBody(body) });
  if (!response.ok) throw new ServiceError(response.status, await response.json().catch(() => null));
  return response;
}

// Reads server-sent events through fetch, because EventSource hides the status of a refusal.
// Calls `onEvent(name, data, id)`.
export async function follow(path, onEvent, { signal, lastId } = {}) {
  const more = lastId ? { "Last-Event-ID": lastId } : {};
  const response = await send(path, { ...OWN, headers: { Accept: "text/event-stream", ...more }, signal });
  if (!response.ok) throw new ServiceError(response.status, await response.json().catch(() => null));
  if (response.status === 204) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    const parts = buffer.split(/\r?\n\r?\n/);
    buffer = parts.pop();
    for (const part of parts) deliver(part, onEvent);
  }
}

function deliver(part, onEvent) {
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
  if (event.data.length) onEvent(event.name, JSON.parse(event.data.join("\n")), event.id);
}
