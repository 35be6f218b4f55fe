// Export menu of a table: the service builds the file, the page saves it.
import { address, fetchFile, PATHS } from "../api.js";
import { count, visible } from "../format.js";
import { html, useState } from "../html.js";
import { t, termLabels, termsOf } from "../i18n.js";
import { isDemo, lang } from "../state.js";
import { isPageOrder } from "./scan_request.js";
import { CheckField, notifyError, Pop } from "./ui.js";
import "../messages/page.js";

// A text that a spreadsheet would run as a formula begins with an apostrophe, as in the service's files with a byte
// order mark.
function cell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
// The value of a row in a column of the service's file, which the service names with its path.
function valueOf(row, { kind, path }) {
  const value = path.split(".").reduce((part, step) => part?.[step], row) ?? null;
  if (value === null) return null;
  if (kind === "flag") return value ? "True" : "False";
  return kind === "time" && typeof value === "number" ? new Date(value * 1000).toISOString() : value;
}
const DEMO_COLUMN = { name: "is_demo_data", kind: "flag", path: "is_demo_data" }; // last, as in the service's files
const columnsOf = (table) => termLabels.value.columns?.[table] ?? [];

// The columns of the service's files that a column of the page shows, by its key.
const FILE_COLUMNS = {
  rank: ["rank"],
  video: ["desc", "aweme_id", "share_url"],
  author: ["nickname", "unique_id", "sec_uid"],
  hot: ["hot_score"],
  link: ["link_type"],
  evidence: ["verdict", "score", "comparison_id"],
  digg: ["digg_count", "is_viral"],
  comment: ["comment_count"],
  collect: ["collect_count"],
  share: ["share_count"],
  date: ["create_time"],
  born: ["music_created_at"],
  music: ["source_music_title", "source_music_id"],
  observed: ["observed_at"],
  kind: ["variant_kind"],
  level: ["search_relevance_level"],
  both: ["duplicate_with_returned_ranking"],
};
// The order of a file for a table that the page sorts by a column; none if the service ranks it.
export function fileOrder(order = "") {
  const key = order.replace(/^-/, "");
  const name = FILE_COLUMNS[key]?.[0] ?? key;
  return name && order.startsWith("-") ? `-${name}` : name;
}
// What a file has whatever columns an address names.
const FIXED_COLUMNS = ["rank", "video", "author", "hot", "digg", "comment", "collect", "share", "date", "evidence"];

// The parameter of a file for the columns on the screen; rows of variants stay marked.
const fileColumns = (keys) =>
  [...new Set([...keys.flatMap((key) => FILE_COLUMNS[key] ?? []), "variant_kind"])].join(",");

// The order, filters and columns of an address as parameters of a file. `columns`: those on the screen, by default those
// of the address; `isSource`: without the parameters that the read operation has itself.
export function fileView(query, { columns, isSource = false } = {}) {
  const isByPage = isPageOrder(query.sort);
  const keys = columns?.map(({ key }) => key) ?? (query.columns && [...FIXED_COLUMNS, ...query.columns.split(",")]);
  return {
    ...(!isSource && {
      sort_by: isByPage ? "" : query.sort,
      count: query.rows,
      viral_only: query.viral && String(query.viral === "1"),
      viral_threshold: query.threshold,
      include_variants: query.variants === "1" ? "true" : "",
    }),
    order: isByPage ? fileOrder(query.sort) : "",
    link_type: query.link,
    source_music_id: query.music,
    account: query.account?.trim(),
    columns: keys && fileColumns(keys),
  };
}

// The rows as CSV with those columns of the service's table that have values, or of them the chosen.
export function rowsCsv(rows, table, chosen) {
  const marked = rows.map((row) => ({ ...row, is_demo_data: isDemo.value }));
  const names = chosen && new Set(chosen.split(","));
  const columns = [...columnsOf(table).filter(({ name }) => !names || names.has(name)), DEMO_COLUMN];
  const filled = columns.filter((column) => marked.some((row) => valueOf(row, column) !== null));
  return [filled.map(({ name }) => name), ...marked.map((row) => filled.map((column) => valueOf(row, column)))]
    .map((line) => line.map(cell).join(","))
    .join("\r\n");
}

// Saves exactly the displayed rows in their order. `title` and `name` are parts of the file's name, `table` is the name
// of the service's table, `columns` are those of it to save.
export function SaveRows({ rows, name, table, title = "", columns, label }) {
  const save = () => {
    const safe = visible(title).replace(/[<>:"/\\|?*.]/g, " ").trim().slice(0, 48) || "Sametrack";
    const parts = [safe, name, new Date().toISOString().slice(0, 10), isDemo.value && t("export.demo")];
    const file = new Blob(["\ufeff", rowsCsv(rows, table, columns)], { type: "text/csv" });
    download(file, `${parts.filter(Boolean).join(" – ")}.csv`);
  };
  return html`
    <button
      type="button"
      class="button little"
      disabled=${!rows.length || !columnsOf(table).length}
      onClick=${save}
    >
      ${label ?? t("export.shown", { number: count(rows.length) })}
    </button>
  `;
}

// `source`: path and query of the response to export; `table`: name of its table; `view`: what is shown of it, as
// parameters of the export.
export function ExportMenu({ source, table, label, view = {} }) {
  const fetchForm = (form, bom) => {
    const own = { source, table, form, bom: form === "csv" ? bom : "", language: lang.value };
    return fetchFile(address(PATHS.exports, { ...view, ...own }));
  };
  return html`<${FileMenu} label=${label} note=${t("export.note")} fetchForm=${fetchForm} name=${table} />`;
}

// The name that the service gives a file.
function nameOf(response) {
  const header = response.headers.get("Content-Disposition") ?? "";
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
  return encoded ? decodeURIComponent(encoded) : /filename="([^"]+)"/.exec(header)?.[1];
}

// `fetchForm(form, bom)` returns the response with the file; `name` is part of the name of a file without one.
export function FileMenu({ fetchForm, name, note, label }) {
  const [bom, setBom] = useState(true);
  const [busy, setBusy] = useState(null);
  const save = async (form) => {
    setBusy(form);
    try {
      const response = await fetchForm(form, bom);
      download(await response.blob(), nameOf(response) ?? `sametrack-${name}.${form}`);
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

// Saves a result or a track as one HTML page that needs no service. `source`: the path of its page; `view`: what is
// shown of it, as parameters of the page; `label` and `title`: what the button says.
export function ShareButton({ source, view = {}, label, title }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const response = await fetchFile(address(`${source}/report`, { ...view, language: lang.value }));
      download(await response.blob(), nameOf(response));
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
    }
  };
  return html`
    <button type="button" class="button little" disabled=${busy} title=${title} onClick=${save}>${label}</button>
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
