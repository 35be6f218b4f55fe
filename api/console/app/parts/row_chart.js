// A chart of rows: a line over time, bars, or a scatter of two numbers. Groups differ in dashes and
// shapes too, so that a grey print and any eye can tell them apart.
import { html, useState } from "../html.js";
import { t } from "../i18n.js";
import { count, visible } from "../format.js";
import { axisText, COLORS, PAD, TimeLines, shortened, ticks, useWidth } from "./charts.js";
import "../messages/chart.js";
import "../messages/sql.js";

const NUMBERS = ["whole", "real"];
const TIMES = ["time", "date"];
const MAX_BARS = 40;
const MAX_POINTS = 5000;
const DASHES = [undefined, "7 3", "2 3", "10 3 2 3", "5 2", "1 2", "12 4", "8 3 2 3 2 3"];
const SHAPES = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
  "M-4-4h8v8h-8z",
  "M0-5L5 4H-5z",
  "M0-5L5 0 0 5-5 0z",
  "M-5-4H5L0 5z",
  "M-5-1h10v2h-10zM-1-5h2v10h-2z",
  "M-5-3l2-2 8 8-2 2z",
  "M-4-4h8v3h-8zM-4 1h8v3h-8z",
];
const COUNTERS = /(^|_)(rank|place|http_status|year|number)$/; // numbers that no one draws first

// Returns {kind, x, y, group} for the columns of an answer, or null. `kind`: only of this kind.
export function suggestChart(columns, rows, kind) {
  const at = (kinds) => columns.flatMap((column, index) => (kinds.includes(column.kind) ? [index] : []));
  const known = (index) => rows.some((row) => row[index] !== null);
  const times = at(TIMES).filter(known);
  const all = at(NUMBERS).filter(known);
  const numbers = [
    ...all.filter((index) => !COUNTERS.test(columns[index].name)),
    ...all.filter((index) => COUNTERS.test(columns[index].name)),
  ];
  const texts = at(["text"]).filter((index) => distinct(rows, index) > 1);
  const unique = texts.find((index) => distinct(rows, index) === rows.length);
  const named = unique ?? texts[0] ?? times[0] ?? all[0];
  const found = {
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
  const wanted = kind
    ? [kind]
    : ["line", ...(unique !== undefined || (texts.length && all.length < 2) ? ["bars"] : []), "scatter"];
  const chosen = wanted.find((one) => found[one] && !(one === "line" && !kind && distinct(rows, times[0]) < 2));
  return chosen ? { kind: chosen, ...found[chosen] } : null;
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

export function RowChart({ chart, columns, rows }) {
  const names = { x: columns[chart.x].name, y: columns[chart.y].name, group: columns[chart.group]?.name };
  const title = t(names.group ? "sql.chart_title_group" : "sql.chart_title", names);
  const kept = rows.filter((row) => row[chart.x] !== null && isNumber(row[chart.y]));
  const groups = grouped(kept, chart.group);
  const shown = groups.slice(0, COLORS.length);
  const limit = chart.kind === "bars" ? MAX_BARS : MAX_POINTS;
  const cut =
    kept.length > limit && chart.kind !== "line" && t("sql.chart_cut", { shown: limit, count: count(kept.length) });
  const missing = kept.length < rows.length && t("sql.chart_missing", { count: count(rows.length - kept.length) });
  const left =
    groups.length > shown.length && t("sql.chart_groups_cut", { shown: shown.length, count: count(groups.length) });
  const draw = { line: lines, bars, scatter }[chart.kind];
  return html`
    <figure class="stack tight">
      <figcaption><h3>${title}</h3></figcaption>
      ${draw({ chart, names, title, groups: shown, rows: kept.slice(0, limit) })}
      ${shown.length > 1 && chart.kind !== "line" && html`<${Legend} groups=${shown} />`}
      <p class="small soft">${[cut, left, missing, t("sql.chart_alternative")].filter(Boolean).join(" ")}</p>
    </figure>
  `;
}

const isNumber = (value) => typeof value === "number";
function grouped(rows, group) {
  if (group === null || group === undefined) return [{ name: null, rows }];
  const found = new Map();
  for (const row of rows) {
    const name = row[group] === null ? "—" : String(row[group]);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(row);
  }
  return [...found].map(([name, of]) => ({ name, rows: of })).sort((a, b) => b.rows.length - a.rows.length);
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

function lines({ chart, title, names, groups }) {
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

const bars = (given) => html`<${BarChart} ...${given} />`;
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
            <title>${`${visible(nameOf(row[chart.x]))}: ${numberText(row[chart.y])}`}</title>
            <text class="axis-name" x=${left - 8} y=${at * 24 + 17} text-anchor="end">
              ${shortened(visible(nameOf(row[chart.x])), letters)}
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

const scatter = (given) => html`<${Scatter} ...${given} />`;
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
function nameOf(value) {
  return typeof value === "string" ? value.replace(/T(\d\d:\d\d):.*$/, " $1") : String(value);
}
