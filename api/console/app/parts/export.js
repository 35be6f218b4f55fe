// Export menu of a table: the service builds the file, the page saves it.
import { address, fetchFile, PATHS } from "../api.js";
import { count } from "../format.js";
import { html, useState } from "../html.js";
import { t, termLabels, termsOf } from "../i18n.js";
import { isDemo, lang } from "../state.js";
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

// The rows as CSV with the columns of the service's table that have values.
export function rowsCsv(rows, table) {
  const marked = rows.map((row) => ({ ...row, is_demo_data: isDemo.value }));
  const columns = [...columnsOf(table), DEMO_COLUMN];
  const filled = columns.filter((column) => marked.some((row) => valueOf(row, column) !== null));
  return [filled.map(({ name }) => name), ...marked.map((row) => filled.map((column) => valueOf(row, column)))]
    .map((line) => line.map(cell).join(","))
    .join("\r\n");
}

// Saves exactly the displayed rows in their order. `name` is part of the file's, `table` that of the service's file.
export function SaveRows({ rows, name, table }) {
  const save = () =>
    download(
      new Blob(["\ufeff", rowsCsv(rows, table)], { type: "text/csv" }),
      `sametrack-${isDemo.value ? "demo-" : ""}${name}.csv`,
    );
  return html`
    <button
      type="button"
      class="button little"
      disabled=${!rows.length || !columnsOf(table).length}
      onClick=${save}
    >
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
