// SQL: a query of the library or a statement of one's own, its rows, and a chart of them.
// The address holds the query with its parameters, or the statement. A query of the library runs when
// it is opened; a statement in an address waits for its reader, who may not have written it.
import { fetchFile, PATHS, request, unlessAborted } from "../api.js";
import { count, DASH, Foreign, visible } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { either, t } from "../i18n.js";
import { link, replaceAddress } from "../router.js";
import { axisText, COLORS, DASHES, PAD, SHAPES, shortened, ticks, TimeLines, useWidth } from "../parts/charts.js";
import { FileMenu } from "../parts/export.js";
import { Raw } from "../parts/raw.js";
import { useDocument } from "../parts/reads.js";
import { sortRows, Table } from "../parts/table.js";
import { Card, Copy, Empty, ErrorNote, Head, Loading, SelectField, TextField, useId } from "../parts/ui.js";
import "../messages/chart.js";
import "../messages/sql.js";

const LIMITS = ["100", "1000", "10000"];
const START = "select *\nfrom marts.rankings\norder by job_id, rank\nlimit 100";
const PARAMETER_PREFIX = "p."; // parameters of a query in the address: `p.top=5`

export function SqlView({ name, query }) {
  const library = useDocument(PATHS.queries);
  const tables = useDocument(PATHS.tables);
  const savedQuery = library.data?.queries.find((entry) => entry.name === name);
  // an address that this page did not write itself opens a fresh workbench
  const placed = useRef({ address: null, number: 0 });
  const address = link(name ? ["sql", name] : ["sql"], query);
  if (placed.current.address !== address) placed.current = { address, number: placed.current.number + 1 };
  const onPlace = (text) => {
    placed.current.address = text;
  };
  return html`
    <${Head} title=${t("sql.title")} lead=${t("sql.lead")} />
    <div class="sql">
      <aside class="shelf no-print" aria-label=${t("sql.library")}>
        <${Library} queries=${library.data?.queries} chosen=${name} isFirst=${!name && !query.q} />
        <${TableList} tables=${tables.data?.tables} />
      </aside>
      <div class="stack">
        <${ErrorNote} error=${library.error} />
        ${name && !library.data && !library.error && html`<${Card}><${Loading} /><//>`}
        ${name && library.data && !savedQuery && html`
          <${Empty} title=${t("sql.unknown_query")} icon="table"><a href=${link(["sql"])}>${t("sql.new")}</a><//>
        `}
        ${(!name || savedQuery) && html`
          <${Workbench} key=${placed.current.number} savedQuery=${savedQuery} query=${query} onPlace=${onPlace} />
        `}
      </div>
    </div>
    <${Raw} />
  `;
}

// Values of the form: those of the address, else the defaults.
function firstValues(savedQuery, query) {
  const inAddress = Object.entries(query)
    .filter(([key]) => key.startsWith(PARAMETER_PREFIX))
    .map(([key, value]) => [key.slice(PARAMETER_PREFIX.length), value]);
  const defaults = (savedQuery?.parameters ?? []).map((parameter) => [parameter.name, parameter.default ?? ""]);
  return Object.fromEntries([...defaults, ...inAddress]);
}

// Names of parameters: `$name` outside of texts, quoted names and comments.
function namedIn(sql) {
  const bare = sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--.*$|\/\*[\s\S]*?\*\//gm, " ");
  return [...new Set([...bare.matchAll(/\$([A-Za-z_]\w*)/g)].map((match) => match[1]))];
}

function Workbench({ savedQuery, query, onPlace }) {
  const [sql, setSql] = useState(query.q ?? savedQuery?.sql ?? START);
  const [values, setValues] = useState(() => firstValues(savedQuery, query));
  const [asOf, setAsOf] = useState(query.as_of ?? "");
  const [limit, setLimit] = useState(LIMITS.includes(query.rows) ? query.rows : "1000");
  const [state, setState] = useState({});
  const running = useRef(null);
  const isOwn = !savedQuery || sql.trim() !== savedQuery.sql;
  const parameters = useMemo(
    () => (isOwn ? namedIn(sql).map((parameter) => ({ name: parameter, type: "text" })) : savedQuery.parameters),
    [sql, isOwn],
  );
  const statement = {
    ...(isOwn ? { sql } : { query: savedQuery.name }),
    parameters: sentParameters(parameters, values, isOwn),
    ...(asOf ? { as_of: asOf } : {}),
  };
  const place = placeOf({ savedQuery, isOwn, sql, values, parameters, asOf, limit });
  const run = () => {
    running.current?.abort();
    const stopping = (running.current = new AbortController());
    onPlace(link(...place));
    replaceAddress(...place);
    setState({ busy: true });
    const body = { ...statement, row_limit: Number(limit) };
    request(PATHS.sql, { method: "POST", body, signal: stopping.signal, isShown: true }).then(
      (envelope) => setState({ result: envelope.data, statement, number: Date.now() }),
      unlessAborted((error) => setState({ error })),
    );
  };
  const cancel = () => {
    running.current?.abort();
    setState({ isCancelled: true });
  };
  useEffect(() => {
    if (savedQuery && !query.q) run();
    return () => running.current?.abort(); // leaving the page ends the statement
  }, []);
  return html`
    <form
      class="card"
      onSubmit=${(event) => {
        event.preventDefault();
        run();
      }}
    >
      ${savedQuery && html`
        <header>
          <div>
            <h2>${either(savedQuery.title, savedQuery.title_zh)}</h2>
            <p class="small soft">${either(savedQuery.description, savedQuery.description_zh)}</p>
          </div>
          <a class="small" href=${link(["sql"])}>${t("sql.new")}</a>
        </header>
      `}
      <${Editor} value=${sql} onInput=${setSql} onRun=${run} />
      ${parameters.length > 0 && html`
        <fieldset class="plain-set">
          <legend class="label">${t("sql.parameters")}</legend>
          <div class="grid">
            ${parameters.map((parameter) => html`
              <${TextField}
                key=${parameter.name}
                label=${parameter.name}
                hint=${either(parameter.meaning, parameter.meaning_zh)}
                type=${parameter.type === "date" ? "date" : "text"}
                inputmode=${parameter.type === "integer" ? "numeric" : undefined}
                value=${values[parameter.name] ?? ""}
                onInput=${(text) => setValues({ ...values, [parameter.name]: text })}
              />
            `)}
          </div>
        </fieldset>
      `}
      <div class="grid">
        <${SelectField}
          label=${t("sql.rows")}
          value=${limit}
          onChange=${setLimit}
          options=${LIMITS.map((rows) => [rows, rows])}
        />
        <${TextField}
          type="date"
          label=${t("sql.as_of")}
          hint=${t("sql.as_of_hint")}
          value=${asOf}
          onInput=${setAsOf}
        />
      </div>
      <div class="row">
        <button type="submit" class="button main-act" disabled=${state.busy || !sql.trim()}>${t("sql.run")}</button>
        ${state.busy && html`
          <button type="button" class="button" onClick=${cancel}>${t("sql.cancel")}</button>
          <${Elapsed} />
        `}
        ${!state.busy && html`
          <${Copy}
            little=${false}
            label=${t("sql.copy_link")}
            text=${() => `${location.origin}${location.pathname}${link(...place)}`}
          />
        `}
        ${state.isCancelled && html`<span class="soft" role="status">${t("sql.cancelled")}</span>`}
      </div>
    </form>
    <${ErrorNote} error=${state.error} isOpen />
    ${state.result && html`<${QueryResult} key=${state.number} result=${state.result} statement=${state.statement} />`}
  `;
}

function Editor({ value, onInput, onRun }) {
  const id = useId("sql");
  const onKeyDown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onRun();
    }
  };
  return html`
    <div class="field">
      <label for=${id}>${t("sql.statement")}</label>
      <textarea
        id=${id}
        rows="9"
        data-editor="sql"
        spellcheck=${false}
        autocapitalize="off"
        autocomplete="off"
        aria-describedby=${`${id}h`}
        value=${value}
        onInput=${(event) => onInput(event.currentTarget.value)}
        onKeyDown=${onKeyDown}
      ></textarea>
      <span id=${`${id}h`} class="hint">${t("sql.run_hint")} ${t("sql.limits")}</span>
    </div>
  `;
}

function Elapsed() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const started = Date.now();
    const timer = setInterval(() => setSeconds(Math.round((Date.now() - started) / 1000)), 500);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="soft" role="status">${t("sql.running", { seconds })}</span>`;
}

// An empty field of a query stands for its default; in a statement of one's own it is null.
function sentParameters(parameters, values, isOwn) {
  const entries = parameters.map((parameter) => [
    parameter.name,
    (values[parameter.name] ?? "") === "" ? null : values[parameter.name],
  ]);
  return Object.fromEntries(isOwn ? entries : entries.filter(([, value]) => value !== null));
}

// Path and query of the address that holds the statement; default values stay out of it.
function placeOf({ savedQuery, isOwn, sql, values, parameters, asOf, limit }) {
  const entries = parameters.map((parameter) => [
    `${PARAMETER_PREFIX}${parameter.name}`,
    values[parameter.name] === (parameter.default ?? "") ? "" : values[parameter.name],
  ]);
  const more = { ...Object.fromEntries(entries), as_of: asOf, rows: limit === "1000" ? "" : limit };
  return isOwn
    ? [savedQuery ? ["sql", savedQuery.name] : ["sql"], { q: sql, ...more }]
    : [["sql", savedQuery.name], more];
}

const wide = matchMedia("(min-width: 1240px)"); // as in data.css: the shelf is beside the editor
const NEWEST_LAYER = "marts"; // conclusions come first: most questions are about them

// The library of queries by subject.
function Library({ queries, chosen, isFirst }) {
  const subjects = [...new Set((queries ?? []).map((entry) => entry.subject))];
  return html`
    <details class="card fold" open=${wide.matches || isFirst}>
      <summary>${t("sql.library")}</summary>
      ${!queries && html`<${Loading} rows=${6} />`}
      <nav aria-label=${t("sql.library")}>
        ${subjects.map((subject) => html`
          <div key=${subject}>
            <h2>${t(`sql.subject_${subject}`)}</h2>
            <ul>
              ${queries.filter((entry) => entry.subject === subject).map((entry) => html`
                <li key=${entry.name}>
                  <a
                    href=${link(["sql", entry.name])}
                    title=${either(entry.description, entry.description_zh)}
                    aria-current=${entry.name === chosen ? "true" : undefined}
                  >
                    ${either(entry.title, entry.title_zh)}
                  </a>
                </li>
              `)}
            </ul>
          </div>
        `)}
      </nav>
    </details>
  `;
}

// The tables with their columns, whose names a press puts into the editor.
function TableList({ tables }) {
  const [filter, setWanted] = useState("");
  const word = filter.trim().toLowerCase();
  const matching = (tables ?? []).filter((table) => matches(table, word)).sort((a, b) => isLast(a) - isLast(b));
  return html`
    <details class="card fold" open=${wide.matches}>
      <summary>${t("sql.tables")}</summary>
      <div class="stack tight">
        <${TextField} type="search" label=${t("sql.filter")} value=${filter} onInput=${setWanted} />
        <div class="tables">
          ${matching.map((table) => html`<${TableEntry} key=${table.name} table=${table} word=${word} />`)}
        </div>
      </div>
    </details>
  `;
}

function TableEntry({ table, word }) {
  const [isOpen, setOpen] = useState(false);
  const hits =
    word && !table.name.includes(word) ? table.columns.filter((column) => column.name.includes(word)) : table.columns;
  return html`
    <details onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>${table.name}</summary>
      ${isOpen && html`
        <p class="tiny soft">${table.row}. ${t("sql.key", { names: table.key.join(", ") })}</p>
        <ul>
          <li><${Insert} name=${table.name} /></li>
          ${hits.map((column) => html`
            <li key=${column.name}>
              <${Insert} name=${column.name} />${" "}
              <span class="tiny soft">${column.type}${column.unit ? `, ${column.unit}` : ""}. ${column.meaning}</span>
            </li>
          `)}
        </ul>
      `}
    </details>
  `;
}

function Insert({ name }) {
  return html`
    <button type="button" class="name-button" aria-label=${t("sql.insert", { name })} onClick=${() => insert(name)}>
      ${name}
    </button>
  `;
}

// Puts a name where the caret of the editor is.
function insert(name) {
  const editor = document.querySelector("[data-editor=sql]");
  if (!editor) return;
  editor.focus();
  const before = editor.value.slice(0, editor.selectionStart);
  const gap = before === "" || /[\s(.,]$/.test(before) ? "" : " ";
  editor.setRangeText(`${gap}${name}`, editor.selectionStart, editor.selectionEnd, "end");
  editor.dispatchEvent(new Event("input", { bubbles: true }));
}

const isLast = (table) => !table.name.startsWith(NEWEST_LAYER);
const matches = (table, word) =>
  !word || table.name.includes(word) || table.columns.some((column) => column.name.includes(word));

const CHART_KINDS = ["line", "bars", "scatter"];
const DIGITS = 10; // beyond them a fraction shows only how computers count

// The rows of a statement: how many came, a chart of them, and all of them as a table.
function QueryResult({ result, statement }) {
  const { columns, rows } = result;
  const numbered = useMemo(() => rows.map((cells, at) => ({ at, cells })), [rows]);
  const [order, setOrder] = useState("");
  useEffect(() => setOrder(""), [rows]); // another statement has other columns
  const tableColumns = useMemo(() => tableColumnsOf(columns), [columns]);
  const sorted = useMemo(() => sortRows(numbered, tableColumns, order), [numbered, tableColumns, order]);
  const summary = [
    t("sql.rows_shown", { count: count(result.returned_count), seconds: result.seconds }),
    result.as_of && t("sql.as_of_shown", { at: utc(result.as_of) }),
  ]
    .filter(Boolean)
    .join(" ");
  const save = html`
    <${FileMenu}
      label=${t("sql.save")}
      note=${t("sql.save_note")}
      name=${statement.query ?? "sql"}
      fetchForm=${(form, bom) =>
        fetchFile(`${PATHS.sql}/export`, { ...statement, form, ...(form === "csv" ? { bom } : {}) })}
    />
  `;
  return html`
    ${result.history_rewritten && html`<div class="note warn" role="status"><p>${t("sql.rewritten")}</p></div>`}
    ${result.is_cut && html`
      <div class="note warn" role="status">
        <h2>${t("sql.cut", { limit: count(result.row_limit) })}</h2>
        <p>${t("sql.cut_hint")}</p>
      </div>
    `}
    ${rows.length > 1 && html`<${ChartCard} columns=${columns} rows=${rows} />`}
    <${Card}
      title=${html`<span class="small soft" role="status">${summary}</span>`}
      aside=${html`<div class="no-print">${save}</div>`}
    >
      ${rows.length ? html`
        <${Table}
          dense
          rows=${sorted}
          keyOf=${(row) => row.at}
          caption=${summary}
          columns=${tableColumns}
          order=${order}
          onOrder=${setOrder}
        />
      ` : html`<${Empty} title=${t("sql.empty")} icon="table">${t("sql.empty_hint")}<//>`}
    <//>
  `;
}

const tableColumnsOf = (columns) =>
  columns.map((column, at) => ({
    key: String(at),
    label: column.name,
    num: NUMBERS.includes(column.kind),
    value: ({ cells }) => (typeof cells[at] === "object" ? cells[at] && JSON.stringify(cells[at]) : cells[at]),
    render: ({ cells }) => html`<${Cell} value=${cells[at]} kind=${column.kind} />`,
  }));

function ChartCard({ columns, rows }) {
  const first = useMemo(() => suggestChart(columns, rows), [columns, rows]);
  const [chosen, setChosen] = useState(first ?? { kind: "none" });
  const change = (part) => setChosen((chart) => ({ ...chart, ...part }));
  const named = (kinds) =>
    columns.map((column, at) => [String(at), column.name, column.kind]).filter(([, , kind]) => kinds.includes(kind));
  const times = named(["time", "date"]);
  const numbers = named(NUMBERS);
  const texts = named(["text", "flag", "date", "time", "whole"]);
  const kinds = useMemo(() => CHART_KINDS.filter((kind) => suggestChart(columns, rows, kind)), [columns, rows]);
  if (!kinds.length) return html`<p class="small soft">${t("sql.chart_none")}</p>`;
  const across = { line: times, bars: texts, scatter: numbers }[chosen.kind];
  const choose = (kind) => setChosen(suggestChart(columns, rows, kind) ?? { kind });
  return html`
    <${Card} title=${t("sql.chart")}>
      <div class="grid no-print">
        <${SelectField}
          label=${t("sql.chart_kind")}
          value=${chosen.kind}
          onChange=${choose}
          options=${[...kinds.map((kind) => [kind, t(`sql.${kind}`)]), ["none", t("sql.no_chart")]]}
        />
        ${across && html`
          <${SelectField}
            label=${t(chosen.kind === "bars" ? "sql.chart_x_bars" : "sql.chart_x")}
            value=${String(chosen.x)}
            onChange=${(at) => change({ x: Number(at) })}
            options=${across}
          />
          <${SelectField}
            label=${t(chosen.kind === "bars" ? "sql.chart_y_bars" : "sql.chart_y")}
            value=${String(chosen.y)}
            onChange=${(at) => change({ y: Number(at) })}
            options=${numbers}
          />
          ${chosen.kind !== "bars" && html`
            <${SelectField}
              label=${t("sql.chart_group")}
              value=${String(chosen.group ?? "")}
              onChange=${(at) => change({ group: at === "" ? null : Number(at) })}
              options=${[["", DASH], ...named(["text", "flag"])]}
            />
          `}
        `}
      </div>
      ${across && html`<${RowChart} chart=${chosen} columns=${columns} rows=${rows} />`}
    <//>
  `;
}

function Cell({ value, kind }) {
  if (value === null) return html`<span class="soft">${DASH}</span>`;
  if (kind === "time") return utc(value);
  if (typeof value === "number") return String(Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS)));
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return html`<span title=${text.length > 40 ? text : undefined}><${Foreign} text=${text} /></span>`;
}

// Times are shown in UTC, to the second, as in every table of the warehouse.
function utc(value) {
  return String(value).replace("T", " ").replace(/\.\d+/, "").replace(/Z$/, " UTC");
}

const NUMBERS = ["whole", "real"];
const TIMES = ["time", "date"];
const MAX_BARS = 40;
const MAX_POINTS = 5000;
const COUNTERS = /(^|_)(rank|place|http_status|year|number)$/; // numbers that nobody draws first

// Returns {kind, x, y, group} for the columns of a result, or null. `kind`: only of this kind.
export function suggestChart(columns, rows, kind) {
  const at = (kinds) => columns.flatMap((column, index) => (kinds.includes(column.kind) ? [index] : []));
  const hasValues = (index) => rows.some((row) => row[index] !== null);
  const times = at(TIMES).filter(hasValues);
  const all = at(NUMBERS).filter(hasValues);
  const numbers = [
    ...all.filter((index) => !COUNTERS.test(columns[index].name)),
    ...all.filter((index) => COUNTERS.test(columns[index].name)),
  ];
  const texts = at(["text"]).filter((index) => distinct(rows, index) > 1);
  const unique = texts.find((index) => distinct(rows, index) === rows.length);
  const named = unique ?? texts[0] ?? times[0] ?? all[0];
  const charts = {
    line: times.length && numbers.length ? { x: times[0], y: numbers[0], group: groupOf(rows, texts, times[0]) } : null,
    bars:
      numbers.length && named !== undefined
        ? { x: named, y: numbers.find((index) => index !== named) ?? numbers[0] }
        : null,
    scatter:
      all.length > 1
        ? { x: numbers[1], y: numbers[0], group: texts.find((index) => distinct(rows, index) <= COLORS.length) ?? null }
        : null,
  };
  // a text that names no single row groups the points of a scatter
  const kinds = kind
    ? [kind]
    : ["line", ...(unique !== undefined || (texts.length && all.length < 2) ? ["bars"] : []), "scatter"];
  const chosen = kinds.find((name) => charts[name] && !(name === "line" && !kind && distinct(rows, times[0]) < 2));
  return chosen ? { kind: chosen, ...charts[chosen] } : null;
}

// The text that makes several rows of one time several lines.
function groupOf(rows, texts, time) {
  if (distinct(rows, time) === rows.length) return null;
  return (
    texts.find((index) => distinct(rows, index) > 1 && distinct(rows, index) <= COLORS.length) ??
    texts.find((index) => distinct(rows, index) > 1) ??
    null
  );
}
function distinct(rows, index) {
  return new Set(rows.map((row) => row[index])).size;
}

// A chart of rows. Groups differ in dashes and shapes too, for grey prints and colour-blind readers.
function RowChart({ chart, columns, rows }) {
  const names = { x: columns[chart.x].name, y: columns[chart.y].name, group: columns[chart.group]?.name };
  const title = t(names.group ? "sql.chart_title_group" : "sql.chart_title", names);
  const kept = rows.filter((row) => row[chart.x] !== null && isNumber(row[chart.y]));
  const groups = grouped(kept, chart.group);
  const drawn = groups.slice(0, COLORS.length);
  const limit = chart.kind === "bars" ? MAX_BARS : MAX_POINTS;
  const cut =
    kept.length > limit && chart.kind !== "line" && t("sql.chart_cut", { shown: limit, count: count(kept.length) });
  const missing = kept.length < rows.length && t("sql.chart_missing", { count: count(rows.length - kept.length) });
  const undrawn =
    groups.length > drawn.length && t("sql.chart_groups_cut", { shown: drawn.length, count: count(groups.length) });
  const Chart = { line: LineChart, bars: BarChart, scatter: Scatter }[chart.kind];
  return html`
    <figure class="stack tight">
      <figcaption><h3>${title}</h3></figcaption>
      <${Chart} key=${chart.kind} ...${{ chart, names, title, groups: drawn, rows: kept.slice(0, limit) }} />
      ${drawn.length > 1 && chart.kind !== "line" && html`<${Legend} groups=${drawn} />`}
      <p class="small soft">${[cut, undrawn, missing, t("sql.chart_alternative")].filter(Boolean).join(" ")}</p>
    </figure>
  `;
}

const isNumber = (value) => typeof value === "number";
function grouped(rows, group) {
  if (group === null || group === undefined) return [{ name: null, rows }];
  const groups = new Map();
  for (const row of rows) {
    const name = row[group] === null ? "—" : String(row[group]);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return [...groups].map(([name, members]) => ({ name, rows: members })).sort((a, b) => b.rows.length - a.rows.length);
}

function Legend({ groups }) {
  return html`
    <div class="legend">
      ${groups.map((group, at) => html`
        <span key=${group.name}>
          <svg width="26" height="12" viewBox="-13 -6 26 12" aria-hidden="true">
            <path d=${SHAPES[at]} fill=${COLORS[at]} />
          </svg>${" "}
          <bdi>${visible(group.name)}</bdi>
        </span>
      `)}
    </div>
  `;
}

function LineChart({ chart, title, names, groups }) {
  const series = groups.map((group, at) => ({
    key: group.name ?? "all",
    name: visible(group.name ?? names.y),
    color: COLORS[at],
    dash: DASHES[at],
    points: group.rows
      .map((row) => ({ at: Date.parse(row[chart.x]), value: row[chart.y] }))
      .sort((a, b) => a.at - b.at),
  }));
  return html`<${TimeLines} label=${title} unit=${names.y} series=${series} height=${280} isUtc />`;
}

function BarChart({ chart, title, rows }) {
  const [place, width] = useWidth();
  const values = rows.map((row) => row[chart.y]);
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values, low + 1e-9);
  const left = Math.min(220, width * 0.36);
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - 74);
  const letters = Math.floor((left - 8) / 6.6);
  return html`
    <div ref=${place}>
      <svg class="chart" viewBox=${`0 0 ${width} ${rows.length * 24 + 4}`} role="img" aria-label=${title}>
        ${rows.map((row, at) => html`
          <g key=${at}>
            <title>${`${visible(categoryText(row[chart.x]))}: ${numberText(row[chart.y])}`}</title>
            <text class="axis-name" x=${left - 8} y=${at * 24 + 17} text-anchor="end">
              ${shortened(visible(categoryText(row[chart.x])), letters)}
            </text>
            <rect
              x=${Math.min(x(0), x(row[chart.y]))}
              y=${at * 24 + 4}
              width=${Math.max(1, Math.abs(x(row[chart.y]) - x(0)))}
              height="17"
              rx="2"
              fill="var(--c1)"
            />
            <text class="axis-name" x=${Math.max(x(0), x(row[chart.y])) + 6} y=${at * 24 + 17}>
              ${numberText(row[chart.y])}
            </text>
          </g>
        `)}
        <line class="zero" x1=${x(0)} x2=${x(0)} y1="0" y2=${rows.length * 24 + 4} />
      </svg>
    </div>
  `;
}

function Scatter({ chart, title, names, groups }) {
  const [place, width] = useWidth();
  const [near, setNear] = useState(null);
  const height = 320;
  const points = groups.flatMap((group, at) =>
    group.rows
      .filter((row) => isNumber(row[chart.x]))
      .slice(0, MAX_POINTS / groups.length)
      .map((row) => ({ x: row[chart.x], y: row[chart.y], at, name: group.name })),
  );
  if (!points.length) return html`<p class="soft small">${t("chart.no_points")}</p>`;
  const [left, right] = range(points.map((point) => point.x));
  const [low, high] = range(points.map((point) => point.y));
  const x = (value) => PAD.left + ((value - left) / (right - left)) * (width - PAD.left - PAD.right);
  const y = (value) => PAD.top + 12 + (1 - (value - low) / (high - low)) * (height - PAD.top - PAD.bottom - 28);
  const text = (point) =>
    [point.name && visible(point.name), `${names.x} ${numberText(point.x)}`, `${names.y} ${numberText(point.y)}`]
      .filter(Boolean)
      .join(" · ");
  return html`
    <div class="stack tight" ref=${place}>
      <svg
        class="chart"
        viewBox=${`0 0 ${width} ${height}`}
        role="img"
        aria-label=${title}
        onPointerLeave=${() => setNear(null)}
      >
        ${ticks(low, high).map((value) => html`
          <g key=${`y${value}`}>
            <line class="axis" x1=${PAD.left} x2=${width - PAD.right} y1=${y(value)} y2=${y(value)} />
            <text x=${PAD.left - 8} y=${y(value) + 4} text-anchor="end">${axisText(value, high - low)}</text>
          </g>
        `)}
        ${ticks(left, right, width > 480 ? 6 : 3).map((value) => html`
          <text key=${`x${value}`} x=${x(value)} y=${height - 20} text-anchor="middle">
            ${axisText(value, right - left)}
          </text>
        `)}
        <text class="axis-name" x="2" y="10">${names.y}</text>
        <text class="axis-name" x=${width - PAD.right} y=${height - 4} text-anchor="end">${names.x}</text>
        ${points.map((point, at) => html`
          <path
            key=${at}
            d=${SHAPES[point.at]}
            transform=${`translate(${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)})`}
            fill=${COLORS[point.at]}
            fill-opacity="0.75"
            onPointerEnter=${() => setNear(point)}
          />
        `)}
      </svg>
      <p class="small soft" aria-live="off">${near ? text(near) : t("sql.chart_hover")}</p>
    </div>
  `;
}

function range(values) {
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const room = (high - low) * 0.05 || Math.max(1, Math.abs(high) * 0.05);
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}
function numberText(value) {
  return Number.isInteger(value) ? count(value) : count(Number(value.toPrecision(6)));
}
function categoryText(value) {
  return typeof value === "string" ? value.replace(/T(\d\d:\d\d):.*$/, " $1") : String(value);
}
