// SQL: a query of the library or a statement of one's own, its rows, and a chart of them.
// The address holds the query with its parameters, or the statement. A query of the library runs when
// it is opened; a statement in an address waits for its reader, who may not have written it.
import { PATHS, request } from "../../api.js";
import { html, useEffect, useMemo, useRef, useState } from "../../html.js";
import { either, t } from "../../i18n.js";
import { Raw } from "../../parts/raw.js";
import { Card, Copy, Empty, ErrorNote, Head, Loading, SelectField, TextField, useId } from "../../parts/ui.js";
import { link, replaceAddress } from "../../router.js";
import { Answer } from "./answer.js";
import { Library, TableList } from "./shelf.js";
import "../../messages/sql.js";

const LIMITS = ["100", "1000", "10000"];
const START = "select *\nfrom marts.rankings\norder by job_id, rank\nlimit 100";
const GIVEN = "p."; // parameters of a query in the address: `p.top=5`

function useDocument(path) {
  const [state, setState] = useState({});
  useEffect(() => {
    const stopping = new AbortController();
    request(path, { signal: stopping.signal }).then(
      (envelope) => setState({ data: envelope.data }),
      (error) => {
        if (error.name !== "AbortError") setState({ error });
      },
    );
    return () => stopping.abort();
  }, [path]);
  return state;
}

export function SqlView({ name, query }) {
  const library = useDocument(PATHS.queries);
  const tables = useDocument(PATHS.tables);
  const found = library.data?.queries.find((one) => one.name === name);
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
      <aside class="shelf no-print">
        <${Library} queries=${library.data?.queries} chosen=${name} isFirst=${!name && !query.q} />
        <${TableList} tables=${tables.data?.tables} />
      </aside>
      <div class="stack">
        <${ErrorNote} error=${library.error} />
        ${name && !library.data && !library.error && html`<${Card}><${Loading} /><//>`}
        ${name && library.data && !found && html`
          <${Empty} title=${t("sql.unknown_query")} icon="table"><a href=${link(["sql"])}>${t("sql.new")}</a><//>
        `}
        ${(!name || found) && html`
          <${Workbench} key=${placed.current.number} found=${found} query=${query} onPlace=${onPlace} />
        `}
      </div>
    </div>
    <${Raw} />
  `;
}

// Values of the form: those of the address, else the defaults.
function firstValues(found, query) {
  const given = Object.entries(query)
    .filter(([key]) => key.startsWith(GIVEN))
    .map(([key, value]) => [key.slice(GIVEN.length), value]);
  const defaults = (found?.parameters ?? []).map((one) => [one.name, one.default ?? ""]);
  return Object.fromEntries([...defaults, ...given]);
}

// `$name` outside of texts, quoted names and comments.
function namedIn(sql) {
  const bare = sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--.*$|\/\*[\s\S]*?\*\//gm, " ");
  return [...new Set([...bare.matchAll(/\$([A-Za-z_]\w*)/g)].map((match) => match[1]))];
}

function Workbench({ found, query, onPlace }) {
  const [sql, setSql] = useState(query.q ?? found?.sql ?? START);
  const [values, setValues] = useState(() => firstValues(found, query));
  const [asOf, setAsOf] = useState(query.as_of ?? "");
  const [limit, setLimit] = useState(LIMITS.includes(query.rows) ? query.rows : "1000");
  const [state, setState] = useState({});
  const running = useRef(null);
  const isOwn = !found || sql.trim() !== found.sql;
  const parameters = useMemo(
    () => (isOwn ? namedIn(sql).map((one) => ({ name: one, type: "text" })) : found.parameters),
    [sql, isOwn],
  );
  const asked = {
    ...(isOwn ? { sql } : { query: found.name }),
    parameters: sent(parameters, values, isOwn),
    ...(asOf ? { as_of: asOf } : {}),
  };
  const place = placeOf({ found, isOwn, sql, values, parameters, asOf, limit });
  const run = () => {
    running.current?.abort();
    const stopping = (running.current = new AbortController());
    onPlace(link(...place));
    replaceAddress(...place);
    setState({ busy: true });
    const body = { ...asked, row_limit: Number(limit) };
    request(PATHS.sql, { method: "POST", body, signal: stopping.signal, isShown: true }).then(
      (envelope) => setState({ answer: envelope.data, asked, number: Date.now() }),
      (error) => {
        if (error.name !== "AbortError") setState({ error });
      },
    );
  };
  const cancel = () => {
    running.current?.abort();
    setState({ isCancelled: true });
  };
  useEffect(() => {
    if (found && !query.q) run();
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
      ${found && html`
        <header>
          <div>
            <h2>${either(found.title, found.title_zh)}</h2>
            <p class="small soft">${either(found.description, found.description_zh)}</p>
          </div>
          <a class="small" href=${link(["sql"])}>${t("sql.new")}</a>
        </header>
      `}
      <${Editor} value=${sql} onInput=${setSql} onRun=${run} />
      ${parameters.length > 0 && html`
        <fieldset class="plain-set">
          <legend class="label">${t("sql.parameters")}</legend>
          <div class="grid">
            ${parameters.map((one) => html`
              <${TextField}
                key=${one.name}
                label=${one.name}
                hint=${either(one.meaning, one.meaning_zh)}
                type=${one.type === "date" ? "date" : "text"}
                inputmode=${one.type === "integer" ? "numeric" : undefined}
                value=${values[one.name] ?? ""}
                onInput=${(text) => setValues({ ...values, [one.name]: text })}
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
          options=${LIMITS.map((one) => [one, one])}
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
    <${ErrorNote} error=${state.error} />
    ${state.answer && html`<${Answer} key=${state.number} answer=${state.answer} asked=${state.asked} />`}
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
function sent(parameters, values, isOwn) {
  const given = parameters.map((one) => [one.name, (values[one.name] ?? "") === "" ? null : values[one.name]]);
  return Object.fromEntries(isOwn ? given : given.filter(([, value]) => value !== null));
}

function placeOf({ found, isOwn, sql, values, parameters, asOf, limit }) {
  const given = parameters.map((one) => [
    `${GIVEN}${one.name}`,
    values[one.name] === (one.default ?? "") ? "" : values[one.name],
  ]);
  const more = { ...Object.fromEntries(given), as_of: asOf, rows: limit === "1000" ? "" : limit };
  return isOwn ? [found ? ["sql", found.name] : ["sql"], { q: sql, ...more }] : [["sql", found.name], more];
}
