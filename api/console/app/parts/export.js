// Export menu of a table: the service builds the file, the page saves it.
import { address, fetchFile, PATHS } from "../api.js";
import { count } from "../format.js";
import { html, useState } from "../html.js";
import { t, termsOf } from "../i18n.js";
import { isDemo, lang } from "../state.js";
import { CheckField, notifyError, Pop } from "./ui.js";
import "../messages/page.js";

// Fields of a file: [name, value of a row]. `PAIR_FIELDS` are the columns of the service's file.
const PAIR_FIELDS = [
  "comparison_id",
  "verdict",
  "reason",
  "observation",
  "segment",
  "reference_kind",
  "reference_aweme_id",
  "reference_service_track_id",
  "candidate_aweme_id",
  "reference_music_id",
  "candidate_music_id",
  "score",
  "chroma_distance",
  "mfcc_distance",
  "overlap_s",
  "reference_start_s",
  "candidate_start_s",
  "peak_agreement",
  "speed",
  "semitones",
  "algorithm",
  "library_version",
  "reference_source",
].map((name) => [name, (row) => row[name]]);
const VIDEO_FIELDS = [
  ["rank", (row) => row.rank],
  ["aweme_id", (row) => row.aweme_id],
  ["desc", (row) => row.desc],
  ["share_url", (row) => row.share_url],
  ["sec_uid", (row) => row.author?.sec_uid],
  ["nickname", (row) => row.author?.nickname],
  ["link_type", (row) => row.link_type],
  ["source_music_id", (row) => row.source_music_id],
  ["create_time", (row) => (row.create_time ? new Date(row.create_time * 1000).toISOString() : null)],
  ["digg_count", (row) => row.statistics?.digg_count],
  ["comment_count", (row) => row.statistics?.comment_count],
  ["collect_count", (row) => row.statistics?.collect_count],
  ["share_count", (row) => row.statistics?.share_count],
  ["hot_score", (row) => row.hot_score],
  ["observed_at", (row) => row.observed_at],
  ["search_relevance_level", (row) => row.search_relevance_level],
];
const DEMO_FIELD = ["is_demo_data", () => (isDemo.value ? "True" : "False")]; // last, as in the service's files
// A text that a spreadsheet would run as a formula begins with an apostrophe, as in the service's files with a byte
// order mark.
function cell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const FIELDS = { comparisons: PAIR_FIELDS }; // of a table; others have videos
export function rowsCsv(rows, name) {
  const filled = (FIELDS[name] ?? VIDEO_FIELDS).filter(([, read]) => rows.some((row) => (read(row) ?? null) !== null));
  const fields = [...filled, DEMO_FIELD];
  return [fields.map(([name]) => name), ...rows.map((row) => fields.map(([, read]) => read(row)))]
    .map((line) => line.map(cell).join(","))
    .join("\r\n");
}

// Saves exactly the displayed rows in their order; `name` is that of the table and of its file.
export function SaveRows({ rows, name }) {
  const save = () =>
    download(
      new Blob(["\ufeff", rowsCsv(rows, name)], { type: "text/csv" }),
      `sametrack-${isDemo.value ? "demo-" : ""}${name}.csv`,
    );
  return html`
    <button type="button" class="button little" disabled=${!rows.length} onClick=${save}>
      ${t("export.shown", { number: count(rows.length) })}
    </button>
  `;
}

// `source`: path and query of the response to export; `table`: name of its table.
export function ExportMenu({ source, table, label }) {
  return html`
    <${FileMenu}
      label=${label}
      note=${t("export.note")}
      fetchForm=${(form, bom) =>
        fetchFile(address(PATHS.exports, { source, table, form, bom: form === "csv" ? bom : "" }))}
      name=${table}
    />
  `;
}

// `fetchForm(form, bom)` returns the response with the file; `name` is part of the name of a file without one.
export function FileMenu({ fetchForm, name, note, label }) {
  const [bom, setBom] = useState(true);
  const [busy, setBusy] = useState(null);
  const save = async (form) => {
    setBusy(form);
    try {
      const response = await fetchForm(form, bom);
      const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
      download(await response.blob(), named ?? `sametrack-${name}.${form}`);
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(null);
    }
  };
  return html`
    <${Pop} label=${label ?? t("export.title")}>
      ${termsOf("file_format", "csv").map(([form, name]) => html`
        <button key=${form} type="button" class="button little" disabled=${busy !== null} onClick=${() => save(form)}>
          ${name}
        </button>
      `)}
      <${CheckField} label=${t("export.bom")} value=${bom} onChange=${setBom} />
      <p class="tiny soft">${note}</p>
    <//>
  `;
}

// Saves the result as one HTML page that needs no service.
export function ShareButton({ jobId }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const response = await fetchFile(address(`${PATHS.jobList}/${jobId}/report`, { language: lang.value }));
      download(await response.blob(), `sametrack-${jobId.slice(0, 8)}.html`);
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
    }
  };
  return html`
    <button type="button" class="button little" disabled=${busy} title=${t("export.share_note")} onClick=${save}>
      ${t("export.share")}
    </button>
  `;
}

function download(blob, name) {
  const place = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = place;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
}
