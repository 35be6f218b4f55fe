// Requests for scans: the values of the form, and the view of the result that a request chooses.
import { PATHS, request } from "../api.js";
import { partsOf } from "../format.js";
import { html, signal, useState } from "../html.js";
import { either, t } from "../i18n.js";
import { limitsOf } from "../limits.js";
import { go } from "../router.js";
import { Field, notifyError, useId } from "./ui.js";
import "../messages/page.js";
import "../messages/scan.js";

export const draft = signal({ text: "", values: {} }); // survives switching to another view

// Converts form values to a request body: numbers as numbers, untouched fields left out.
export function bodyOf(values) {
  const body = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === "" || value === undefined) continue;
    if (name === "search_keywords") body[name] = partsOf(value, /[,，]/);
    else if (typeof value === "boolean" || name === "sort_by") body[name] = value;
    else body[name] = Number(value);
  }
  return body;
}

export function NumberField({ name, value, onInput }) {
  const limits = limitsOf(name);
  const id = useId();
  // without limits the hint keeps its line, so that nothing moves
  const range = limits ? [limits.minimum, limits.maximum].map((limit) => limit ?? "…").join(" – ") : "\u00a0";
  const meaning = limits ? either(limits.meaning, limits.meaning_zh) : undefined;
  return html`
    <${Field} label=${html`<label for=${id} title=${meaning}>${t(`param.${name}`)}</label>`} hint=${range}>
      <input
        id=${id}
        type="number"
        inputmode="decimal"
        step=${name === "match_threshold" ? "0.01" : "1"}
        min=${limits?.minimum}
        max=${limits?.maximum ?? undefined}
        value=${value ?? ""}
        placeholder=${limits ? (limits.default ?? t("hot.linked_default")) : ""}
        onInput=${(event) => onInput(name, event.currentTarget.value)}
      />
    <//>
  `;
}

export const MUSIC_ID = /^\d{5,30}$/;
const LINK = /https?:|(^|[\s,;，；：:])[a-z0-9-]+(\.[a-z0-9-]+)+\/\S/i; // also without its scheme

// Whether a text is that of a track, not a title: a music id, or a text with a link.
export const isTrack = (text) => MUSIC_ID.test(text.trim()) || LINK.test(text);

// What a line asks for: the scan of a track, an account, or a song by its title.
const ACCOUNT = /^(@[\w.-]+|MS4wLjABAAAA[\w.-]+)$/;
// One word may be a title, or a handle without its @.
export const mayBeHandle = (line) => /^[a-z][\w.-]{2,30}$/i.test(line);
export function kindOf(line) {
  if (ACCOUNT.test(line)) return "account";
  return isTrack(line) ? "track" : "title";
}

// The tracks of a text: one per line; several links on a line are several tracks, and so are several ids.
const LINKS = /https?:\/\/[^\s"'<>,;，；]+/gi;
const IDS = /^\d{5,30}([\s,;，；]+\d{5,30})+$/;
export const tracksOf = (text) =>
  partsOf(text, "\n").flatMap((line) => {
    const links = line.match(LINKS) ?? [];
    if (links.length > 1) return links;
    return IDS.test(line) ? line.split(/[\s,;，；]+/) : [line];
  });

// The `sec_user_id` of an account, which the service reads from a link, a handle or an id.
export async function accountOf(text) {
  return (await request(PATHS.sec, { query: { url: text }, isShown: true })).data.sec_user_id;
}

// The body of a search for a song by its title, with those values of the form that a search has.
export const SEARCH_NAMES = [
  "search_candidate_limit",
  "search_batch_target",
  "search_page_limit",
  "search_request_budget",
];
export function searchBody(keyword, values) {
  const limits = Object.fromEntries(SEARCH_NAMES.map((name) => [name, values[name]]));
  return { keyword: keyword.trim(), search_only: true, ...bodyOf(limits) };
}

// Starts a scan of the sound that a video uses.
export function ScanThis({ video }) {
  const [busy, setBusy] = useState(false);
  const input = video.source_music_id ?? video.share_url;
  if (!input) return null;
  const start = () => {
    setBusy(true);
    request(PATHS.jobs, { method: "POST", body: { input }, isShown: true })
      .then(openJob, notifyError)
      .finally(() => setBusy(false));
  };
  return html`
    <button type="button" class="button little" disabled=${busy} onClick=${start}>
      ${t(busy ? "act.starting" : "act.scan_this")}
    </button>
  `;
}

// Parts of an address and the parameters they hold.
export const PARTS = { sort: "sort_by", rows: "count", viral: "viral_only", threshold: "viral_threshold" };

// Columns by which the page sorts the rows of a ranking; the other orders in an address are the service's.
const PAGE_COLUMNS = [
  "rank",
  "video",
  "author",
  "evidence",
  "link",
  "music",
  "born",
  "observed",
  "kind",
  "speed",
  "semitones",
];
export const isPageOrder = (sort) => PAGE_COLUMNS.includes(sort?.replace(/^-/, ""));

const written = (value) => (typeof value === "boolean" ? Number(value) : value);

// The parts of an address for the view of a request, as far as it differs from `own`, that of the job.
export function viewParts(parameters, own = {}) {
  return Object.fromEntries(
    Object.entries(PARTS).map(([part, name]) => [
      part,
      parameters[name] === own[name] ? "" : written(parameters[name]),
    ]),
  );
}

// Opens the job that answers a request: an earlier one, if its stored result does.
export function openJob({ params, data }) {
  go(["job", data.job_id], viewParts(params, data.parameters));
}
