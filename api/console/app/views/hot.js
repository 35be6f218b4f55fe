// Start page: one field for a track, a song title or an account; up to fifty tracks at once, with all parameters.
import { address, PATHS, request } from "../api.js";
import { html, signal, useRef, useState } from "../html.js";
import { t, termsOf } from "../i18n.js";
import { limitsOf } from "../limits.js";
import { go } from "../router.js";
import { notify } from "../state.js";
import { Raw } from "../parts/raw.js";
import { Recent } from "../parts/recent.js";
import {
  accountOf,
  bodyOf,
  draft,
  isTrack,
  kindOf,
  mayBeHandle,
  NumberField,
  openJob,
  searchBody,
  tracksOf,
  viewParts,
} from "../parts/scan_request.js";
import { CheckField, ErrorNote, Head, SelectField, TextField, useId } from "../parts/ui.js";
import "../messages/page.js";
import "../messages/scan.js";

const BATCH = 10; // tracks of one request
const MOST_TRACKS = 50; // more are a catalogue
const SONG_LIST = /\/share\/(playlist|album|artist)\b/i;
// Whether a line may stand for several tracks: the link of a list, or a short link, which hides its target.
const mayBeList = (line) => SONG_LIST.test(line) || (isTrack(line) && !/\d{5}/.test(line));
// Parameters of the form.
const USUAL = ["count", "candidate_limit"];
const DEEP = [
  "search_candidate_limit",
  "search_batch_target",
  "search_page_limit",
  "search_request_budget",
  "match_threshold",
  "account_profile_limit",
];
const SWITCHES = ["verify_audio", "search_enabled", "viral_only", "refresh"];

// The request that the lines lead to.
function plan(kind, lines, values) {
  const [first] = lines;
  const plans = {
    account: () => ({ method: "GET", place: address(PATHS.sec, { url: first }) }),
    title: () => ({ method: "POST", place: PATHS.jobs, body: searchBody(first, values) }),
    many: () => ({ method: "POST", place: PATHS.batch, body: { inputs: lines.slice(0, BATCH), ...bodyOf(values) } }),
    track: () => ({ method: "POST", place: PATHS.jobs, body: { input: first, ...bodyOf(values) } }),
  };
  return lines.length ? plans[kind]() : undefined;
}

const openAccount = (id) => go(["profile"], { id });

export function HotView() {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const { text, values } = draft.value;
  const lines = tracksOf(text);
  const tooMany = lines.length > MOST_TRACKS;
  const kind = lines.length > 1 ? "many" : kindOf(lines[0] ?? "");
  const isList = kind === "track" && mayBeList(lines[0]);
  const planned = plan(isList ? "many" : kind, lines, values);
  const send = async () => {
    if (kind === "account") openAccount(await accountOf(lines[0]));
    else if (kind === "many" || isList) openBatch(await startBatches(lines, values));
    else openJob(await request(planned.place, { method: "POST", body: planned.body, isShown: true }));
  };
  const openHandle = () => accountOf(`@${lines[0]}`).then(openAccount, setError);
  const start = async (event) => {
    event.preventDefault();
    setError(null);
    setBusy(true);
    try {
      await send();
    } catch (failed) {
      // A link that leads to no track may be that of an account.
      const mayBeAccount = kind === "track" && failed.type === "invalid_music_input";
      const id = mayBeAccount && (await accountOf(lines[0]).catch(() => null));
      if (id) openAccount(id);
      else setError(failed);
    } finally {
      setBusy(false);
    }
  };
  const label = { account: "hot.open_account", title: "hot.search", many: "hot.start_many", track: "hot.start" };
  return html`
    <${Head} title=${t("hot.title")} lead=${t("hot.lead")} />
    <form class="card" onSubmit=${start}>
      <${Inputs} kind=${lines.length ? kind : "none"} number=${lines.length} tooMany=${tooMany}>
        <button type="submit" class="button main-act" disabled=${busy || !lines.length || tooMany}>
          ${t(busy ? "act.starting" : lines.length ? label[kind] : "hot.start", { number: lines.length })}
        </button>
      <//>
      ${kind === "title" && mayBeHandle(lines[0]) && html`
        <div>
          <button type="button" class="button little" disabled=${busy} onClick=${openHandle}>
            ${t("hot.open_handle", { handle: lines[0] })}
          </button>
        </div>
      `}
      <${ErrorNote} error=${error} />
      <${TrackFile}
        onTracks=${(tracks) => {
          draft.value = { ...draft.value, text: [...new Set([...tracksOf(draft.value.text), ...tracks])].join("\n") };
        }}
      />
      <${MoreSettings}
        values=${values}
        onChange=${(name, value) => {
          draft.value = { ...draft.value, values: { ...values, [name]: value } };
        }}
      />
    </form>
    <${Recent} />
    <${Raw} planned=${planned} />
  `;
}

// The field, as high as its lines, with the button beside it. Enter submits, Shift and Enter begin a line.
function Inputs({ kind, number, tooMany, children }) {
  const id = useId();
  const { text, values } = draft.value;
  const hint = tooMany ? "hot.too_many" : `hot.hint_${kind}`;
  return html`
    <div class="field">
      <label for=${id}>${t("hot.tracks")}</label>
      <div class="ask">
        <textarea
          id=${id}
          rows=${Math.min(text.split("\n").length, 8)}
          value=${text}
          placeholder=${t("hot.placeholder")}
          aria-describedby=${`${id}h`}
          aria-invalid=${tooMany ? "true" : undefined}
          enterkeyhint="go"
          onInput=${(event) => {
            draft.value = { text: event.currentTarget.value, values };
          }}
          onKeyDown=${(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            event.currentTarget.form.requestSubmit();
          }}
        ></textarea>
        ${children}
      </div>
      <span id=${`${id}h`} class=${tooMany ? "fault" : "hint"}>${t(hint, { number, most: MOST_TRACKS })}</span>
    </div>
  `;
}

function MoreSettings({ values, onChange }) {
  const sortBy = values.sort_by ?? limitsOf("sort_by")?.default ?? "";
  return html`
    <details class="fold">
      <summary>${t("hot.more")}</summary>
      <div class="stack">
        <div class="grid">
          ${[...USUAL, "viral_threshold"].map((name) => html`
            <${NumberField} key=${name} name=${name} value=${values[name]} onInput=${onChange} />
          `)}
          <${SelectField}
            label=${t("param.sort_by")}
            value=${sortBy}
            options=${termsOf("sort", sortBy)}
            onChange=${(value) => onChange("sort_by", value)}
          />
        </div>
        <${TextField}
          label=${t("param.search_keywords")}
          value=${values.search_keywords ?? ""}
          onInput=${(value) => onChange("search_keywords", value)}
          hint=${t("hot.keywords_hint")}
        />
        <div class="grid">
          ${DEEP.map((name) => html`
            <${NumberField} key=${name} name=${name} value=${values[name]} onInput=${onChange} />
          `)}
        </div>
        <div class="stack tight">
          ${SWITCHES.map((name) => html`
            <${CheckField}
              key=${name}
              label=${t(`param.${name}`)}
              value=${values[name] ?? limitsOf(name)?.default}
              onChange=${(value) => onChange(name, value)}
              hint=${name === "refresh" && t("hot.refresh_hint")}
            />
          `)}
        </div>
      </div>
    </details>
  `;
}

// Starts all tracks, as many requests as it takes. If a later one is refused, `rest` are the lines it leaves, and
// `error` says why.
async function startBatches(lines, values) {
  const batch = { params: {}, items: [], notes: [], rest: [], error: null };
  for (let at = 0; at < lines.length; at += BATCH) {
    try {
      const { params, data } = await request(PATHS.batch, {
        method: "POST",
        body: { inputs: lines.slice(at, at + BATCH), ...bodyOf(values) },
        isShown: true,
      });
      batch.params = params;
      batch.items.push(...data.items);
      batch.notes.push(...data.notes);
    } catch (error) {
      if (at === 0) throw error;
      return { ...batch, rest: lines.slice(at), error };
    }
  }
  return batch;
}

// Tracks that were not started, by the address of the batch: {failed, leftOut, rest, error}. `leftOut`: songs of a list
// beyond the limit.
export const refusals = signal(new Map());
function openBatch({ params, items, notes, rest, error }) {
  const started = items.filter((item) => item.ok);
  const failed = items.filter((item) => !item.ok);
  const leftOut = notes.filter((note) => note.type === "songs_left_out");
  const isOne = items.length === 1 && !rest.length && !leftOut.length;
  if (isOne && failed.length) throw failed[0].error;
  const ids = started.map((item) => item.job_id).join(",") || "none";
  refusals.value = new Map(refusals.value).set(ids, { failed, leftOut, rest, error });
  if (rest.length) draft.value = { ...draft.value, text: rest.join("\n") };
  const isNew = started.every((item) => item.status === "queued"); // an earlier job keeps the view of its own request
  go([isOne ? "job" : "jobs", ids], isNew ? {} : viewParts(params));
}

const CELL = /https?:\/\/[^\s"'<>,;，；]+|(?<!\d)\d{15,30}(?!\d)/; // a link, or an id of the platform
const MOST_BYTES = 2_000_000;

// Text of a file; the first sheet of a spreadsheet as CSV.
async function textOf(file) {
  if (!file.name.toLowerCase().endsWith(".xlsx")) return file.text();
  return (await import("./catalogs/spreadsheet.js")).sheetAsCsv(file);
}

// Links and ids of a table or a text, one per line, each once.
function tracksIn(text) {
  return [
    ...new Set(
      text
        .split(/\r?\n/)
        .map((line) => CELL.exec(line)?.[0])
        .filter(Boolean),
    ),
  ];
}

// Takes tracks out of a spreadsheet or a text file: the first link or id of each line. The file stays in the browser.
function TrackFile({ onTracks }) {
  const input = useRef(null);
  const read = async (event) => {
    const [file] = event.currentTarget.files;
    input.current.value = ""; // the same file can be chosen again
    if (!file) return;
    if (file.size > MOST_BYTES) {
      notify(t("hot.file_large"));
      return;
    }
    const content = await textOf(file).catch(() => null);
    if (content === null) {
      notify(t("hot.file_unread"));
      return;
    }
    const tracks = tracksIn(content);
    notify(t(tracks.length ? "hot.file_read" : "hot.file_empty", { number: tracks.length }));
    if (tracks.length) onTracks(tracks);
  };
  return html`
    <div class="row">
      <input
        class="hidden"
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,text/csv,text/plain"
        ref=${input}
        tabindex="-1"
        aria-label=${t("hot.file")}
        onChange=${read}
      />
      <button type="button" class="button little" onClick=${() => input.current.click()}>${t("hot.file")}</button>
      <span class="hint small soft">${t("hot.file_hint")}</span>
    </div>
  `;
}
