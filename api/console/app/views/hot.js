// Start page: scan up to fifty tracks, one per line, with all parameters.
import { PATHS, request } from "../api.js";
import { partsOf } from "../format.js";
import { html, signal, useRef, useState } from "../html.js";
import { t, termsOf } from "../i18n.js";
import { limitsOf } from "../limits.js";
import { go } from "../router.js";
import { notify } from "../state.js";
import { Raw } from "../parts/raw.js";
import { Recent } from "../parts/recent.js";
import { bodyOf, draft, isTrack, NumberField, openJob, viewParts } from "../parts/scan_request.js";
import { CheckField, ErrorNote, Head, SelectField, TextField, useId } from "../parts/ui.js";
import "../messages/page.js";
import "../messages/scan.js";

const BATCH = 10; // tracks of one request
const MOST_TRACKS = 50; // more are a catalogue
const SONG_LIST = /\/share\/(playlist|album|artist)\b/i;
// Whether a line may stand for several tracks: the link of a list, or a short link, which hides its target.
const mayBeList = (line) => SONG_LIST.test(line) || (isTrack(line) && !/\d{5}/.test(line));
// Parameters of the form, and those behind "more settings".
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

export function HotView() {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const id = useId();
  const { text, values } = draft.value;
  const sortBy = values.sort_by ?? limitsOf("sort_by")?.default ?? "";
  const lines = partsOf(text, "\n");
  const tooMany = lines.length > MOST_TRACKS;
  const set = (name, value) => {
    draft.value = { ...draft.value, values: { ...values, [name]: value } };
  };
  const isBatch = lines.length > 1 || mayBeList(text);
  const planned = isBatch
    ? { method: "POST", place: PATHS.batch, body: { inputs: lines.slice(0, BATCH), ...bodyOf(values) } }
    : { method: "POST", place: PATHS.jobs, body: { input: lines[0] ?? "", ...bodyOf(values) } };
  const start = async (event) => {
    event.preventDefault();
    setError(null);
    setBusy(true);
    try {
      if (isBatch) openBatch(await startBatches(lines, values));
      else openJob(await request(planned.place, { method: "POST", body: planned.body, isShown: true }));
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return html`
    <${Head} title=${t("hot.title")} lead=${t("hot.lead")} />
    <form class="card" onSubmit=${start}>
      <div class="field">
        <label for=${id}>${t("hot.tracks")}</label>
        <textarea
          id=${id}
          rows="4"
          value=${text}
          placeholder=${t("hot.placeholder")}
          aria-describedby=${`${id}h`}
          aria-invalid=${tooMany ? "true" : undefined}
          onInput=${(event) => {
            draft.value = { text: event.currentTarget.value, values };
          }}
          onKeyDown=${(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form.requestSubmit();
          }}
        ></textarea>
        <span id=${`${id}h`} class=${tooMany ? "fault" : "hint"}>
          ${t(tooMany ? "hot.too_many" : "hot.tracks_hint", { number: lines.length, most: MOST_TRACKS })}
        </span>
      </div>
      <${TrackFile}
        onTracks=${(tracks) => {
          draft.value = {
            ...draft.value,
            text: [...new Set([...partsOf(draft.value.text, "\n"), ...tracks])].join("\n"),
          };
        }}
      />
      <div class="grid">
        ${USUAL.map((name) => html`<${NumberField} key=${name} name=${name} value=${values[name]} onInput=${set} />`)}
        <${SelectField}
          label=${t("param.sort_by")}
          value=${sortBy}
          options=${termsOf("sort", sortBy)}
          onChange=${(value) => set("sort_by", value)}
        />
        <${NumberField} name="viral_threshold" value=${values.viral_threshold} onInput=${set} />
      </div>
      <${MoreSettings} values=${values} onChange=${set} />
      <div class="row">
        <button type="submit" class="button main-act" disabled=${busy || !lines.length || tooMany}>
          ${t(busy ? "act.starting" : lines.length > 1 ? "hot.start_many" : "hot.start", { number: lines.length })}
        </button>
      </div>
      <${ErrorNote} error=${error} />
    </form>
    <${Raw} planned=${lines.length ? planned : undefined} />
    <${Recent} />
  `;
}

function MoreSettings({ values, onChange }) {
  return html`
    <details class="fold">
      <summary>${t("hot.more")}</summary>
      <div class="stack">
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

// Takes tracks out of a CSV or text file: the first link or id of each line. The file stays in the browser.
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
    const tracks = tracksIn(await file.text());
    notify(t(tracks.length ? "hot.file_read" : "hot.file_empty", { number: tracks.length }));
    if (tracks.length) onTracks(tracks);
  };
  return html`
    <div class="row">
      <input
        class="hidden"
        type="file"
        accept=".csv,.tsv,.txt,text/csv,text/plain"
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
