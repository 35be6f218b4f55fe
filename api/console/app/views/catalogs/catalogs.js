// Catalogues: lists of up to 10,000 tracks with the tracks that are due, their runs, imports and results.
import { address, PATHS, request, unlessAborted } from "../../api.js";
import { compact, count, DASH, Foreign, moment } from "../../format.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { named, t } from "../../i18n.js";
import { go, link, route } from "../../router.js";
import { notify } from "../../state.js";
import { ExportMenu } from "../../parts/export.js";
import { useParameter } from "../../parts/reads.js";
import { PlainTable } from "../../parts/table.js";
import {
  Badge,
  Card,
  Empty,
  ErrorNote,
  faultOf,
  Figures,
  Head,
  Loading,
  notifyError,
  SelectField,
  TextField,
  useId,
} from "../../parts/ui.js";
import { tableLines } from "./table_lines.js";
import "../../messages/catalogs.js";
import "../../messages/compare.js";
import "../../messages/operator.js";
import "../../messages/result.js";
import "../../messages/scan.js";
import "../../messages/watchlists.js";

const POLL_MS = 3000; // while a run is under way
const placeOf = (name) => `${PATHS.catalogs}/${encodeURIComponent(name)}`;

export function CatalogsView({ query }) {
  const [state, setState] = useState({});
  const [isOpen, setOpen] = useState(false);
  const read = (signal) =>
    request(PATHS.catalogs, { signal }).then(
      (envelope) => setState({ lists: envelope.data.catalogs, readAt: Date.now() }),
      unlessAborted((error) => setState((current) => ({ ...current, error }))),
    );
  const { lists, readAt, error } = state;
  const isRunning = Boolean(lists?.some((catalog) => catalog.is_running || catalog.states.running));
  useEffect(() => {
    const stopping = new AbortController();
    read(stopping.signal);
    const timer = isRunning ? setInterval(() => read(stopping.signal), POLL_MS) : null;
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [isRunning]);
  const act = (path, method, message) =>
    request(path, { method }).then(() => {
      notify(t(message));
      return read();
    });
  const acts = {
    run: (name) => act(`${placeOf(name)}/runs`, "POST", "catalog.started").catch(notifyError),
    stop: (name) => act(`${placeOf(name)}/runs`, "DELETE", "catalog.stopped").catch(notifyError),
    remove: (name) =>
      act(placeOf(name), "DELETE", "catalog.removed").then(() => {
        if (route.value.query.name === name) go(["catalogs"]); // unless the reader has gone on
      }, notifyError),
  };
  const chosen = lists?.find((catalog) => catalog.name === query.name);
  const imported = (name) => {
    setOpen(false);
    go(["catalogs"], { name });
    return read();
  };
  return html`
    <${Head} title=${t("catalog.title")} lead=${t("catalog.lead")}>
      <button type="button" class="button" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>
        ${t("catalog.import")}
      </button>
    <//>
    ${isOpen && html`
      <${Card} title=${t("catalog.import")}>
        <${CatalogForm} name=${chosen?.name ?? ""} onStored=${() => read()} onImported=${imported} />
      <//>
    `}
    <${ErrorNote} error=${error} />
    ${!lists && !error && html`<${Card}><${Loading} /><//>`}
    ${lists?.length === 0 && html`<${Empty} title=${t("catalog.empty")} icon="list">${t("catalog.empty_hint")}<//>`}
    ${lists?.length > 0 && html`<${Card} title=${t("catalog.all")}><${Lists} lists=${lists} acts=${acts} /><//>`}
    ${chosen && html`
      <${CatalogDetails}
        key=${chosen.name}
        catalog=${chosen}
        query=${query}
        readAt=${readAt}
        onRemove=${() => acts.remove(chosen.name)}
      />
    `}
    ${lists && query.name && !chosen && html`
      <${Empty} title=${t("catalog.unknown", { name: query.name })} icon="list" />
    `}
  `;
}

function Lists({ lists, acts }) {
  return html`
    <${PlainTable}
      rows=${lists}
      keyOf=${(row) => row.name}
      caption=${t("catalog.title")}
      columns=${[
        {
          key: "name",
          label: t("reference.name"),
          class: "cell-name",
          value: (row) => row.name,
          render: (row) => html`<a href=${link(["catalogs"], { name: row.name })}><${Foreign} text=${row.name} /></a>`,
        },
        {
          key: "tracks",
          label: t("catalog.tracks"),
          num: true,
          value: (row) => row.track_count,
          render: (row) => count(row.track_count),
        },
        ...["fresh", "running", "failed"].map((state) => ({
          key: state,
          label: t(`catalog.state.${state}`),
          num: true,
          value: (row) => row.states[state],
          render: (row) => count(row.states[state]),
        })),
        {
          key: "due",
          label: t("catalog.due"),
          num: true,
          value: (row) => row.due_count,
          render: (row) => count(row.due_count),
        },
        {
          key: "today",
          label: t("catalog.today"),
          class: "nowrap",
          value: (row) => row.spent_today.requests,
          render: (row) =>
            t("catalog.spent", { tracks: count(row.spent_today.tracks), requests: count(row.spent_today.requests) }),
        },
        {
          key: "run",
          label: t("col.more"),
          render: (row) =>
            row.is_running ? html`
              <span class="row">
                <${Badge} tone="accent">${t("catalog.is_running")}<//>
                <button type="button" class="button little" onClick=${() => acts.stop(row.name)}>
                  ${t("catalog.stop")}
                </button>
              </span>
            ` : html`
              <button
                type="button"
                class="button little"
                disabled=${!row.due_count}
                onClick=${() => acts.run(row.name)}
              >
                ${t("catalog.run")}
              </button>
            `,
        },
      ]}
    />
  `;
}

function CatalogDetails({ catalog, query, readAt, onRemove }) {
  const [isSure, setSure] = useState(false);
  const { settings, states } = catalog;
  const limit = (value) => (value === null ? t("catalog.no_limit") : count(value));
  return html`
    <${Card} title=${html`<${Foreign} text=${catalog.name} />`}>
      <${Figures}
        items=${[
          [t("catalog.tracks"), count(catalog.track_count)],
          [t("catalog.state.fresh"), count(states.fresh)],
          [t("catalog.state.never_read"), count(states.never_read)],
          [t("catalog.due"), count(catalog.due_count)],
        ]}
      />
      <p class="small soft">
        ${[
          named(t("catalog.fresh_days"), count(settings.fresh_days)),
          named(t("catalog.tracks_per_day"), limit(settings.tracks_per_day)),
          named(t("catalog.requests_per_day"), limit(settings.requests_per_day)),
          named(t("catalog.changed"), moment(catalog.updated_at)),
        ].join(" · ")}
      </p>
      <p class="small soft">${t("catalog.report_hint")} <code>sametrack catalog report ${catalog.name}</code></p>
      <${CatalogTracks} catalog=${catalog} query=${query} readAt=${readAt} />
      <div class="row no-print">
        <button type="button" class="button little" onClick=${() => (isSure ? onRemove() : setSure(true))}>
          ${t(isSure ? "catalog.remove_sure" : "catalog.remove")}
        </button>
      </div>
    <//>
  `;
}

const PART_LINES = 200; // of one request
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_PROBLEMS = 20;

// `onStored`: some of the tracks are in the catalogue; `onImported(name)`: the import is over.
function CatalogForm({ name, onStored, onImported }) {
  const [fields, setFields] = useState({ name, text: "", tracks: "", days: "" });
  const [state, setState] = useState({});
  const file = useRef(null);
  const id = useId("c");
  const setField = (field) => (value) => setFields((now) => ({ ...now, [field]: value }));
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
    const { lines, open: quoted } = tableLines(fields.text);
    if (quoted !== null || !lines.length) {
      setState({ fault: quoted === null ? t("catalog.no_lines") : t("catalog.quote_open", { line: count(quoted) }) });
      return;
    }
    // counts what was stored, also if a later part is refused
    const report = { added: 0, updated: 0, duplicates: 0, problems: [] };
    setState({ busy: true });
    try {
      await sendParts(fields, lines, report);
    } catch (error) {
      setState({ error, report });
      onStored();
      return;
    }
    setState({ report });
    notify(t("catalog.imported", { number: count(report.added) }));
    if (report.problems.length) onStored();
    else onImported(fields.name);
  };
  const { report, fault } = state;
  return html`
    <form class="stack" onSubmit=${send}>
      <div class="grid">
        <${TextField}
          label=${t("reference.name")}
          value=${fields.name}
          onInput=${setField("name")}
          pattern="[a-z0-9][a-z0-9_\\-]*"
          maxlength="64"
          hint=${t("watchlist.name_hint")}
          required
        />
        <${TextField}
          type="number"
          label=${t("catalog.tracks_per_day")}
          value=${fields.tracks}
          onInput=${setField("tracks")}
          min="0"
          hint=${t("catalog.empty_keeps")}
        />
        <${TextField}
          type="number"
          label=${t("catalog.fresh_days")}
          value=${fields.days}
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
          value=${fields.text}
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
      ${report && html`<${ImportReport} report=${report} onContinue=${() => onImported(fields.name)} />`}
    </form>
  `;
}

// What was stored of an import, and the lines that were not.
function ImportReport({ report, onContinue }) {
  return html`
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
          ${report.problems.slice(0, MOST_PROBLEMS).map((problem) => html`
            <li key=${problem.line}>
              ${t("catalog.line", { line: count(problem.line) })}${" "}
              <${Foreign} text=${problem.input ?? ""} none="" />${" "}
              <span class="soft">${t(`catalog.problem.${problem.reason}`)}</span>
            </li>
          `)}
        </ul>
        <button type="button" class="button little" onClick=${onContinue}>${t("catalog.go_on")}</button>
      `}
    </div>
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

// Sends the lines in parts and adds the outcome of each part to `report`.
async function sendParts({ name, tracks, days }, lines, report) {
  const settings = {
    ...(tracks !== "" && { tracks_per_day: Number(tracks) }),
    ...(days !== "" && { fresh_days: Number(days) }),
  };
  for (let at = 0; at < lines.length; at += PART_LINES) {
    const rows = lines.slice(at, at + PART_LINES).map(({ values }) => values);
    const { data } = await request(`${placeOf(name)}/tracks`, {
      method: "POST",
      body: { rows, first_line: at + 1, ...settings },
    });
    report.added += data.new_count;
    report.updated += data.updated_count;
    report.duplicates += data.duplicates.length;
    report.problems.push(...data.problems.map((problem) => ({ ...problem, line: lines[problem.line - 1].number })));
  }
}

const PAGE = 50;
const STATES = ["fresh", "stale", "running", "failed", "never_read"];
const TONES = { fresh: "good", stale: "warn", running: "accent", failed: "bad", scanned: "info" };
// The orders of the service by a column; a third press returns to that of the import.
const ordersBy = (name) => [`-${name}`, name, ""];
// The tracks of a catalogue page by page, in the order of the service: state, newest result and its figures.
function CatalogTracks({ catalog, query, readAt }) {
  const [page, setPage] = useState({});
  const state = STATES.includes(query.state) ? query.state : "";
  const cursor = Number(query.from) || 0;
  const place = `${placeOf(catalog.name)}/tracks`;
  const view = { state, sort: query.sort, descending: query.sort && String(query.down === "1") };
  const source = address(place, { ...view, cursor, limit: PAGE });
  // Read again whenever the list of catalogues was.
  useEffect(() => {
    const stopping = new AbortController();
    request(source, { signal: stopping.signal }).then(
      (envelope) => setPage({ source, from: cursor, ...envelope.data }),
      unlessAborted((error) => setPage((current) => ({ ...(current.source === source && current), source, error }))),
    );
    return () => stopping.abort();
  }, [source, readAt]);
  const { name, sort, down } = query;
  const allTracks = useParameter(`${PATHS.catalogs}/{name}/tracks`, "limit")?.maximum; // of a catalogue
  const choose = (value) => go(["catalogs"], { name, state: value, sort, down });
  const setCursor = (at) => go(["catalogs"], { ...query, from: at || "" });
  const setOrder = (order) =>
    go(["catalogs"], { name, state, sort: order.replace("-", ""), down: order.startsWith("-") ? "1" : "" });
  const { tracks, error } = page;
  return html`
    <div class="row apart">
      <div class="row">
        <${SelectField}
          label=${t("catalog.state")}
          value=${state}
          onChange=${choose}
          options=${[["", t("catalog.all_states")], ...STATES.map((entry) => [entry, t(`catalog.state.${entry}`)])]}
        />
        ${tracks && html`
          <span class="small soft" role="status">
            ${t("catalog.shown", {
              first: count(tracks.length ? page.from + 1 : 0),
              last: count(page.from + tracks.length),
              total: count(page.total_count),
            })}
          </span>
        `}
      </div>
      ${allTracks && html`<${ExportMenu} source=${address(place, { ...view, limit: allTracks })} table="catalog" />`}
    </div>
    <${ErrorNote} error=${error} />
    ${!tracks && !error && html`<${Loading} />`}
    ${tracks?.length > 0 && html`
      <${PlainTable}
        rows=${tracks}
        keyOf=${(row) => row.key}
        caption=${t("catalog.tracks")}
        columns=${columns()}
        order=${sort && (down === "1" ? `-${sort}` : sort)}
        onOrder=${setOrder}
      />
    `}
    ${tracks && page.total_count > PAGE && html`
      <div class="row no-print">
        <button
          type="button"
          class="button little"
          disabled=${cursor === 0}
          onClick=${() => setCursor(Math.max(0, cursor - PAGE))}
        >
          ${t("catalog.earlier")}
        </button>
        <button
          type="button"
          class="button little"
          disabled=${page.next_cursor === null}
          onClick=${() => setCursor(page.next_cursor)}
        >
          ${t("catalog.later")}
        </button>
      </div>
    `}
  `;
}

// A track that the catalogue has not run yet may have been scanned by another request: then it has figures.
const stateOf = (row) => (row.state === "never_read" && row.figures ? "scanned" : row.state);

function columns() {
  const figure = (sort, label, show = (figures) => count(figures[sort])) => ({
    key: sort,
    sort: ordersBy(sort),
    label: t(label),
    num: true,
    render: ({ figures }) => (figures ? show(figures) : DASH),
  });
  return [
    {
      key: "track",
      sort: ordersBy("title"),
      label: t("catalog.track"),
      render: (row) => {
        const name = html`<${Foreign} text=${row.title ?? row.input} />`;
        const job = row.result_job_id ?? row.figures?.newest_job_id;
        return html`
          <div class="cell-title">
            ${row.music_id ? html`<a href=${link(["track", row.music_id])}>${name}</a>` : name}
            ${job && html`<div><a class="small" href=${link(["job", job])}>${t("catalog.result")}</a></div>`}
          </div>
        `;
      },
    },
    {
      key: "state",
      sort: ordersBy("state"),
      label: t("catalog.state"),
      render: (row) => html`
        <${Badge} tone=${TONES[stateOf(row)] ?? ""} title=${row.error && faultOf(row.error)}>
          ${t(`catalog.state.${stateOf(row)}`)}
        <//>
        ${row.job_id ? html`
          ${" "}<a class="small" href=${link(["job", row.job_id])}>
            ${t(row.stage ? `stage.${row.stage}` : "catalog.queued")}
          </a>
        ` : row.error && html`${" "}<span class="small soft">${faultOf(row.error)}</span>`}
      `,
    },
    figure("confirmed_video_count", "compare.confirmed"),
    figure("music_id_count", "compare.music_ids"),
    figure("music_id_estimate", "compare.estimate", (figures) =>
      figures.music_id_estimate === null
        ? DASH
        : t("compare.interval", {
            point: count(Math.round(figures.music_id_estimate)),
            low: count(Math.round(figures.music_id_lower)),
            high: count(Math.round(figures.music_id_upper)),
          }),
    ),
    figure("variant_video_count", "compare.variants"),
    figure("digg_count", "compare.likes", (figures) => compact(figures.digg_count)),
    figure("last_result_at", "catalog.result_at", (figures) => moment(figures.last_result_at)),
  ];
}
