// Import into a catalogue: pasted lines, or a CSV or XLSX file with its columns, sent in parts. The file is
// read in the browser and shown as text before it is sent.
import { PATHS, request } from "../../api.js";
import { Foreign, count } from "../../format.js";
import { html, useRef, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { ErrorNote, TextField, useId } from "../../parts/ui.js";
import { notify } from "../../state.js";
import { tableLines } from "./table_lines.js";
import "../../messages/catalogs.js";
import "../../messages/operator.js";
import "../../messages/watchlists.js";

const PART = 200; // lines of one request
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_PROBLEMS = 20;

// `onStored`: some of the tracks are in the catalogue; `onImported(name)`: the import is over.
export function CatalogForm({ name, onStored, onImported }) {
  const [given, setGiven] = useState({ name, text: "", tracks: "", days: "" });
  const [state, setState] = useState({});
  const file = useRef(null);
  const id = useId("c");
  const setField = (field) => (value) => setGiven((now) => ({ ...now, [field]: value }));
  const open = async (event) => {
    const [chosen] = event.currentTarget.files;
    file.current.value = ""; // the same file can be chosen again
    if (!chosen) return;
    if (chosen.size > MOST_BYTES) {
      notify(t("catalog.file_large"));
      return;
    }
    const text = await textOf(chosen);
    if (text !== null) setField("text")(text);
  };
  const send = async (event) => {
    event.preventDefault();
    const { lines, open: quoted } = tableLines(given.text);
    if (quoted !== null || !lines.length) {
      setState({ fault: quoted === null ? t("catalog.no_lines") : t("catalog.quote_open", { line: count(quoted) }) });
      return;
    }
    // of what was stored, also if a later part is refused
    const report = { added: 0, updated: 0, duplicates: 0, problems: [] };
    setState({ busy: true });
    try {
      await sendParts(given, lines, report);
    } catch (error) {
      setState({ error, report });
      onStored();
      return;
    }
    setState({ report });
    notify(t("catalog.imported", { number: count(report.added) }));
    if (report.problems.length) onStored();
    else onImported(given.name);
  };
  const { report, fault } = state;
  return html`
    <form class="stack" onSubmit=${send}>
      <div class="grid">
        <${TextField}
          label=${t("reference.name")}
          value=${given.name}
          onInput=${setField("name")}
          pattern="[a-z0-9][a-z0-9_\\-]*"
          maxlength="64"
          hint=${t("watchlist.name_hint")}
          required
        />
        <${TextField}
          type="number"
          label=${t("catalog.tracks_per_day")}
          value=${given.tracks}
          onInput=${setField("tracks")}
          min="0"
          hint=${t("catalog.empty_keeps")}
        />
        <${TextField}
          type="number"
          label=${t("catalog.fresh_days")}
          value=${given.days}
          onInput=${setField("days")}
          min="1"
          hint=${t("catalog.empty_keeps")}
        />
      </div>
      <div class="field">
        <label for=${id}>${t("catalog.lines")}</label>
        <textarea
          id=${id}
          rows="6"
          value=${given.text}
          onInput=${(event) => setField("text")(event.currentTarget.value)}
          required
        ></textarea>
        <span class="hint">${t("catalog.lines_hint")}</span>
      </div>
      <div class="row">
        <input
          class="hidden"
          type="file"
          accept=".csv,.tsv,.txt,.xlsx,text/csv,text/plain"
          ref=${file}
          tabindex="-1"
          aria-label=${t("catalog.file")}
          onChange=${open}
        />
        <button type="button" class="button" onClick=${() => file.current.click()}>${t("catalog.file")}</button>
        <button type="submit" class="button main-act" disabled=${state.busy}>${t("catalog.import")}</button>
      </div>
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
      <${ErrorNote} error=${state.error} />
      ${report && html`
        <div role="status" class="small">
          <p>
            ${t("catalog.outcome", {
              added: count(report.added),
              updated: count(report.updated),
              duplicates: count(report.duplicates),
              problems: count(report.problems.length),
            })}
          </p>
          ${report.problems.length > 0 && html`
            <ul class="list">
              ${report.problems.slice(0, MOST_PROBLEMS).map((one) => html`
                <li key=${one.line}>
                  ${t("catalog.line", { line: count(one.line) })}${" "}
                  <${Foreign} text=${one.input ?? ""} none="" />${" "}
                  <span class="soft">${t(`catalog.problem.${one.reason}`)}</span>
                </li>
              `)}
            </ul>
            <button type="button" class="button little" onClick=${() => onImported(given.name)}>
              ${t("catalog.go_on")}
            </button>
          `}
        </div>
      `}
    </form>
  `;
}

// Text of a table; a spreadsheet as CSV. Null if it cannot be read: a notice says why.
async function textOf(file) {
  const isSpreadsheet = file.name.toLowerCase().endsWith(".xlsx");
  try {
    if (!isSpreadsheet) return decoded(new Uint8Array(await file.arrayBuffer()));
    const { sheetAsCsv } = await import("./spreadsheet.js");
    return await sheetAsCsv(file);
  } catch {
    notify(t(isSpreadsheet ? "catalog.file_unread" : "catalog.file_encoding"));
    return null;
  }
}

// UTF-8, or UTF-16 with a byte order mark; throws for other encodings.
function decoded(data) {
  const encoding = { "255,254": "utf-16le", "254,255": "utf-16be" }[data.slice(0, 2).join()] ?? "utf-8";
  return new TextDecoder(encoding, { fatal: true }).decode(data);
}

// Sends the lines in parts and counts in `report` what became of them.
async function sendParts({ name, tracks, days }, lines, report) {
  const settings = {
    ...(tracks !== "" && { tracks_per_day: Number(tracks) }),
    ...(days !== "" && { fresh_days: Number(days) }),
  };
  for (let at = 0; at < lines.length; at += PART) {
    const rows = lines.slice(at, at + PART).map(({ values }) => values);
    const { data } = await request(`${PATHS.catalogs}/${encodeURIComponent(name)}/tracks`, {
      method: "POST",
      body: { rows, first_line: at + 1, ...settings },
    });
    report.added += data.new_count;
    report.updated += data.updated_count;
    report.duplicates += data.duplicates.length;
    report.problems.push(...data.problems.map((one) => ({ ...one, line: lines[one.line - 1].number })));
  }
}
