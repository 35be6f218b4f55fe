// The answer of a statement: what came, a chart of it, and all of it as a table.
import { PATHS, fetchFile } from "../../api.js";
import { DASH, Foreign, count } from "../../format.js";
import { html, useMemo, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { FileMenu } from "../../parts/export.js";
import { RowChart, suggestChart } from "../../parts/row_chart.js";
import { Table } from "../../parts/table.js";
import { Card, Empty, SelectField } from "../../parts/ui.js";
import "../../messages/sql.js";

const NUMBERS = ["whole", "real"];
const KINDS = ["line", "bars", "scatter"];
const DIGITS = 10; // beyond them a fraction shows only how computers count

export function Answer({ answer, asked }) {
  const { columns, rows } = answer;
  const shown = useMemo(() => rows.map((cells, at) => ({ at, cells })), [rows]);
  const told = [
    t("sql.rows_shown", { count: count(answer.returned_count), seconds: answer.seconds }),
    answer.as_of && t("sql.as_of_shown", { at: utc(answer.as_of) }),
  ]
    .filter(Boolean)
    .join(" ");
  const save = html`
    <${FileMenu}
      label=${t("sql.save")}
      note=${t("sql.save_note")}
      name=${asked.query ?? "sql"}
      fetchForm=${(form, bom) =>
        fetchFile(`${PATHS.sql}/export`, { ...asked, form, ...(form === "csv" ? { bom } : {}) })}
    />
  `;
  return html`
    ${answer.history_rewritten && html`<div class="note warn" role="status"><p>${t("sql.rewritten")}</p></div>`}
    ${answer.is_cut && html`
      <div class="note warn" role="status">
        <h2>${t("sql.cut", { limit: count(answer.row_limit) })}</h2>
        <p>${t("sql.cut_hint")}</p>
      </div>
    `}
    ${rows.length > 1 && html`<${ChartCard} columns=${columns} rows=${rows} />`}
    <${Card}
      title=${html`<span class="small soft" role="status">${told}</span>`}
      aside=${html`<div class="no-print">${save}</div>`}
    >
      ${rows.length ? html`
        <${Table}
          dense
          rows=${shown}
          keyOf=${(row) => row.at}
          caption=${told}
          columns=${columns.map((column, at) => ({
            key: at,
            label: column.name,
            num: NUMBERS.includes(column.kind),
            render: (row) => html`<${Cell} value=${row.cells[at]} kind=${column.kind} />`,
          }))}
        />
      ` : html`<${Empty} title=${t("sql.empty")} icon="table">${t("sql.empty_hint")}<//>`}
    <//>
  `;
}

function ChartCard({ columns, rows }) {
  const first = useMemo(() => suggestChart(columns, rows), [columns, rows]);
  const [chosen, setChosen] = useState(first ?? { kind: "none" });
  const change = (part) => setChosen((one) => ({ ...one, ...part }));
  const named = (kinds) =>
    columns.map((column, at) => [String(at), column.name, column.kind]).filter(([, , kind]) => kinds.includes(kind));
  const times = named(["time", "date"]);
  const numbers = named(NUMBERS);
  const texts = named(["text", "flag", "date", "time", "whole"]);
  const kinds = useMemo(() => KINDS.filter((kind) => suggestChart(columns, rows, kind)), [columns, rows]);
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

// Times are told in UTC, to the second, as in every table of the warehouse.
function utc(value) {
  return String(value).replace("T", " ").replace(/\.\d+/, "").replace(/Z$/, " UTC");
}
