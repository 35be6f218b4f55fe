// Import into a catalogue: pasted lines, or a CSV or XLSX file with its columns, sent in parts. The file is
// read in the browser and shown as text before it is sent.
import { PATHS, request } from "../../api.js";
import { Foreign, count } from "../../format.js";
import { html, useRef, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { ErrorNote, TextField, useId } from "../../parts/ui.js";
import { notify } from "../../state.js";
import "../../messages/catalogs.js";
import "../../messages/operator.js";
import "../../messages/watchlists.js";

const PART = 200; // lines of one request
const MOST_BYTES = 20_000_000;
const MOST_PROBLEMS = 20;
const HEADERS = new Set(["track", "input", "music_id", "link", "url", "video", "id", "音乐id", "链接"]);

// Cells of a line of a table, with quotes as spreadsheets write them.
export function cellsOf(line, delimiter) {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}]*))(?:${delimiter}|$)`, "y");
  const cells = [];
  while (cell.lastIndex < line.length || cells.length === 0) {
    const found = cell.exec(line);
    if (!found) return [...cells, line]; // no table
    cells.push((found[1] ?? found[2]).replaceAll('""', '"').trim());
  }
  return cells;
}

// Rows with their columns if the first line names a known one, else one text per line; `numbers` are those of their lines.
export function linesOf(text) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/).map((line, at) => ({ line, number: at + 1 })).filter(({ line }) => line.trim());
  const delimiter = [",", ";", "\t"].find((one) => lines[0]?.line.includes(one)) ?? ",";
  const names = cellsOf(lines[0]?.line ?? "", delimiter);
  if (!names.some((name) => HEADERS.has(name.toLowerCase()))) return { inputs: lines.map(({ line }) => line.trim()), numbers: lines.map(({ number }) => number) };
  const rows = lines.slice(1).map(({ line }) => { const cells = cellsOf(line, delimiter); return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""]).filter(([name]) => name)); });
  return { rows, numbers: lines.slice(1).map(({ number }) => number) };
}

export function CatalogForm({ name, onImported }) {
  const [given, setGiven] = useState({ name, text: "", tracks: "", days: "" });
  const [state, setState] = useState({});
  const file = useRef(null);
  const id = useId("c");
  const setField = (field) => (value) => setGiven((now) => ({ ...now, [field]: value }));
  const open = async (event) => {
    const [chosen] = event.currentTarget.files;
    file.current.value = ""; // the same file can be chosen again
    if (!chosen) return;
    if (chosen.size > MOST_BYTES) { notify(t("catalog.file_large")); return; }
    const text = await textOf(chosen);
    if (text !== null) setField("text")(text);
  };
  const send = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      const report = await sendParts(given);
      setState({ report });
      notify(t("catalog.imported", { number: count(report.added) }));
      if (!report.problems.length) onImported(given.name);
    } catch (error) { setState({ error }); }
  };
  const { report } = state;
  return html`<form class="stack" onSubmit=${send}><div class="grid">
      <${TextField} label=${t("reference.name")} value=${given.name} onInput=${setField("name")} pattern="[a-z0-9][a-z0-9_\\-]*" maxlength="64" hint=${t("watchlist.name_hint")} required />
      <${TextField} type="number" label=${t("catalog.tracks_per_day")} value=${given.tracks} onInput=${setField("tracks")} min="0" hint=${t("catalog.empty_keeps")} />
      <${TextField} type="number" label=${t("catalog.fresh_days")} value=${given.days} onInput=${setField("days")} min="1" hint=${t("catalog.empty_keeps")} /></div>
    <div class="field"><label for=${id}>${t("catalog.lines")}</label><textarea id=${id} rows="6" value=${given.text} onInput=${(event) => setField("text")(event.currentTarget.value)} required></textarea><span class="hint">${t("catalog.lines_hint")}</span></div>
    <div class="row"><input class="hidden" type="file" accept=".csv,.tsv,.txt,.xlsx,text/csv,text/plain" ref=${file} tabindex="-1" aria-label=${t("catalog.file")} onChange=${open} /><button type="button" class="button" onClick=${() => file.current.click()}>${t("catalog.file")}</button>
      <button type="submit" class="button main-act" disabled=${state.busy}>${t("catalog.import")}</button></div>
    <${ErrorNote} error=${state.error} />
    ${report && html`<div role="status" class="small"><p>${t("catalog.outcome", { added: count(report.added), updated: count(report.updated), duplicates: count(report.duplicates), problems: count(report.problems.length) })}</p>
      ${report.problems.length > 0 && html`<ul class="list">${report.problems.slice(0, MOST_PROBLEMS).map((one) => html`<li key=${one.line}>${t("catalog.line", { line: count(one.line) })} <${Foreign} text=${one.input ?? ""} none="" /> <span class="soft">${one.message}</span></li>`)}</ul>
        <button type="button" class="button little" onClick=${() => onImported(given.name)}>${t("catalog.go_on")}</button>`}</div>`}</form>`;
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

async function sendParts({ name, text, tracks, days }) {
  const { inputs, rows, numbers } = linesOf(text);
  const all = inputs ?? rows;
  const report = { added: 0, updated: 0, duplicates: 0, problems: [] };
  const settings = { ...(tracks !== "" && { tracks_per_day: Number(tracks) }), ...(days !== "" && { fresh_days: Number(days) }) };
  for (let at = 0; at < all.length; at += PART) {
    const part = all.slice(at, at + PART);
    const body = { ...(inputs ? { inputs: part } : { rows: part }), first_line: at + 1, ...settings };
    const { data } = await request(`${PATHS.catalogs}/${encodeURIComponent(name)}/tracks`, { method: "POST", body });
    report.added += data.new_count;
    report.updated += data.updated_count;
    report.duplicates += data.duplicates.length;
    report.problems.push(...data.problems.map((one) => ({ ...one, line: numbers[one.line - 1] })));
  }
  return report;
}
