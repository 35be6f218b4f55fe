// SVG charts. A canvas library of 42 kB would draw the same, but screen readers could not read it.
import { clock, compact, count, day, moment, percent, visible } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { named, t } from "../i18n.js";
import "../messages/chart.js";

export const PAD = { left: 58, right: 16, top: 12, bottom: 26 };

// Charts are drawn at the width of their container, so that text has the same size on a phone.
export function useWidth() {
  const place = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, Math.max(280, width)];
}

export function Bars({ items, label }) {
  const most = Math.max(1, ...items.map((item) => item.value ?? 0));
  return html`
    <div class="bars" role="list" aria-label=${label}>
      ${items.map((item) => html`
        <span key=${`${item.key}n`} role="listitem" class="one-line">
          ${item.name}
          <span class="hidden">: ${count(item.value)}</span>
        </span>
        <span key=${`${item.key}b`} class="bar-line" aria-hidden="true">
          <span style=${{ width: `${((item.value ?? 0) / most) * 100}%`, background: item.color }}></span>
        </span>
        <span key=${`${item.key}v`} class="num" aria-hidden="true">${item.text ?? count(item.value)}</span>
      `)}
    </div>
  `;
}

export function ticks(low, high, most = 4) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const values = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) values.push(at);
  return values;
}

export function axisText(value, range) {
  if (range < 8) return String(Number(value.toPrecision(4)));
  return range < 2000 ? count(Math.round(value)) : compact(value);
}

const isKnown = (value) => value !== null && value !== undefined;

// Splits a line where observations are further apart than `gapMs`, and at unknown values if they are `breaks`; else an
// observation without the value has other counts.
function pieces(points, gapMs, breaks) {
  const runs = [];
  let last = null;
  for (const point of points) {
    if (!isKnown(point.value)) {
      if (breaks) last = null;
      continue;
    }
    if (last === null || point.at - last.at > gapMs) runs.push([]);
    runs.at(-1).push(point);
    last = point;
  }
  return runs;
}

// Four times the median distance of observations counts as a gap.
function gapOf(points) {
  const steps = points
    .slice(1)
    .map((point, at) => point.at - points[at].at)
    .filter((step) => step > 0)
    .sort((a, b) => a - b);
  return steps.length ? Math.max(steps[Math.floor(steps.length / 2)] * 4, 36e5) : Infinity;
}

// A chart of lines over time: series [{key, name, color, dash, points: [[time, value, [low, high]]]}]. A time is a text
// or milliseconds. A null value interrupts its line; [low, high] is optional, and a band around the line. Further props
// are those of `TimeLines`.
export function LineChart({ series, ...more }) {
  const lines = series.map((line, at) => ({
    color: COLORS[at % COLORS.length],
    dash: DASHES[at % DASHES.length],
    ...line,
    hasBand: true,
    points: line.points.map(([time, value, band]) => ({
      at: new Date(time).getTime(),
      value,
      low: band?.[0],
      high: band?.[1],
    })),
  }));
  return html`<${TimeLines} ...${more} series=${lines} />`;
}

// series: [{key, name, color, dash, points: [{at (ms), value, low, high}]}]. A rounded value is a range, drawn at its
// point, or with `hasBand` as a band; there an unknown value interrupts the line. Several lines have their names at
// their ends, or in a legend where the chart is too narrow.
// marks: [{at (ms), name}], vertical reference lines. steps: [{at (ms), name}], marks on the time axis.
// `unit`: what the values count, written over their axis.
// `isContinuous`: the values hold until the next time, so a line has steps and no gaps.
// `isFromZero`: the axis of the values begins at 0.
// `span`: times in ms that the axis reaches. Charts above one another with the same span have the same axis, so their
// names are in legends.
// `isUtc`: times are written in UTC, and days of UTC without a time; else in the zone of the reader.
export function TimeLines({
  series,
  label,
  unit,
  marks = [],
  steps = [],
  height = 240,
  isContinuous = false,
  isFromZero = false,
  hasHint = true,
  isUtc = false,
  span = NO_SPAN,
}) {
  const all = series.flatMap((line) => line.points.filter((point) => isKnown(point.value)));
  if (!all.length) return html`<p class="soft small">${t("chart.no_points")}</p>`;
  return html`
    <${Lines}
      ...${{ all, series, label, unit, marks, steps, height, isContinuous, isFromZero, hasHint, isUtc, span }}
    />
  `;
}

const NO_SPAN = [];
// How to read a chart, for a page that says it once for several.
export const hintOf = (isContinuous) => t(isContinuous ? "chart.hover" : "chart.hover_gaps");

// Index of the time to read out after a key, among `length` times.
const KEYS = { ArrowLeft: (at) => at - 1, ArrowRight: (at) => at + 1, Home: () => 0, End: (_, length) => length - 1 };

const DAY_MS = 864e5;
// A time of a chart as text.
function timeText(at, isUtc, times) {
  if (!isUtc) return moment(at / 1000);
  return times.every((time) => time % DAY_MS === 0) ? day(at / 1000, "UTC") : `${moment(at / 1000, "UTC")} UTC`;
}

const LABEL_STEP = 15; // px between labels at the ends of lines
const LEAST_LABELLED = 520; // a narrower chart has a legend

// The labels at the ends of lines, from top to bottom, moved apart where they would overlap.
function endLabels(series, y, bottom) {
  const labels = series
    .map((line) => ({ line, last: line.points.findLast((point) => isKnown(point.value)) }))
    .filter(({ last }) => last)
    .map((label) => ({ ...label, at: y(label.last.value) }))
    .sort((a, b) => a.at - b.at);
  let free = -Infinity;
  for (const label of labels) {
    label.at = Math.max(label.at, free);
    free = label.at + LABEL_STEP;
  }
  let lowest = bottom;
  for (const label of labels.toReversed()) {
    label.at = Math.min(label.at, lowest);
    lowest = label.at - LABEL_STEP;
  }
  return labels;
}

function Lines({ all, series, label, unit, marks, steps, height, isContinuous, isFromZero, hasHint, isUtc, span }) {
  const [place, width] = useWidth();
  const [near, setNear] = useState(null); // the time whose values are read out, by pointer or by keys
  const times = useMemo(
    () => [...new Set([...all, ...steps].map((point) => point.at))].sort((a, b) => a - b),
    [series, steps],
  );
  const allTimes = [...times, ...span, ...marks.map((mark) => mark.at)];
  const [from, to] = spread(Math.min(...allTimes), Math.max(...allTimes));
  const tops = all.map((point) => point.high ?? point.value);
  const lows = all.map((point) => point.low ?? point.value);
  const [low, high] = padded(isFromZero ? 0 : Math.min(...lows), Math.max(...tops));
  const levels = ticks(low, high).filter(
    (value) => Number.isInteger(value) || !all.every((point) => Number.isInteger(point.value)),
  );
  const top = PAD.top + (unit ? 14 : 0);
  const bottom = height - PAD.bottom;
  const isLabelled =
    series.length > 1 && !span.length && width >= LEAST_LABELLED && series.length * LABEL_STEP <= bottom - top;
  const room = isLabelled ? Math.min(width * 0.3, widthOf(series)) : 0; // of the labels
  const end = width - PAD.right - room;
  const x = (at) => PAD.left + ((at - from) / (to - from)) * (end - PAD.left);
  const y = (value) => top + (1 - (value - low) / (high - low)) * (bottom - top);
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = from + ((((event.clientX - box.left) / box.width) * width - PAD.left) / (end - PAD.left)) * (to - from);
    setNear(times.reduce((best, time) => (Math.abs(time - at) < Math.abs(best - at) ? time : best), times[0]));
  };
  const press = (event) => {
    const next = KEYS[event.key]?.(near === null ? times.length : times.indexOf(near), times.length);
    if (next === undefined) return;
    event.preventDefault();
    setNear(times[Math.min(times.length - 1, Math.max(0, next))]);
  };
  const read =
    near === null
      ? ""
      : named(
          timeText(near, isUtc, times),
          [
            ...series.map((line) => reading(line, near, isContinuous)),
            ...steps.filter((step) => step.at === near).map((step) => step.name),
          ]
            .filter(Boolean)
            .join(" · "),
        );
  return html`
    <div class="stack tight" ref=${place}>
      ${series.length > 1 && !isLabelled && html`<${LineLegend} series=${series} />`}
      <svg
        class="chart"
        viewBox=${`0 0 ${width} ${height}`}
        tabindex="0"
        role="slider"
        aria-label=${label}
        aria-valuemin="1"
        aria-valuemax=${times.length}
        aria-valuenow=${near === null ? times.length : times.indexOf(near) + 1}
        aria-valuetext=${read || t("chart.keys")}
        onPointerMove=${move}
        onPointerLeave=${() => setNear(null)}
        onKeyDown=${press}
        onBlur=${() => setNear(null)}
      >
        ${unit && html`<text class="axis-name" x="2" y="11">${unit}</text>`}
        ${levels.map((value) => html`
          <g key=${value}>
            <line class="axis" x1=${PAD.left} x2=${end} y1=${y(value)} y2=${y(value)} />
            <text x=${PAD.left - 8} y=${y(value) + 4} text-anchor="end">${axisText(value, high - low)}</text>
          </g>
        `)}
        <${TimeAxis} from=${from} to=${to} x=${x} y=${bottom} width=${width - room} isUtc=${isUtc} />
        ${series.map((line) => html`
          <${Line} key=${line.key} line=${line} x=${x} y=${y} isContinuous=${isContinuous} />
        `)}
        ${isLabelled && endLabels(series, y, bottom).map(({ line, last, at }) => html`
          <g key=${`e${line.key}`}>
            <path
              d=${`M${x(last.at) + 4} ${y(last.value)}L${end + 10} ${at}`}
              stroke=${line.color}
              stroke-dasharray="1 3"
            />
            <text class="label" x=${end + 14} y=${at + 4}>
              ${shortened(visible(line.name), (room - LABEL_GAP) / LETTER)}
            </text>
          </g>
        `)}
        ${steps.map((step) => html`
          <path key=${`s${step.at}`} class="step" d=${`M${x(step.at)} ${bottom - 9}l5 9h-10z`}>
            <title>${step.name}</title>
          </path>
        `)}
        ${marks.map((mark) => html`
          <g key=${mark.at}>
            <line class="moment" x1=${x(mark.at)} x2=${x(mark.at)} y1=${top} y2=${bottom} />
            <text
              class="label"
              x=${x(mark.at) + (mark.at > (from + to) / 2 ? -6 : 6)}
              y=${top + 10}
              text-anchor=${mark.at > (from + to) / 2 ? "end" : "start"}
            >
              ${mark.name}
            </text>
          </g>
        `)}
        ${near !== null && html`
          <line x1=${x(near)} x2=${x(near)} y1=${top} y2=${bottom} stroke="currentColor" stroke-opacity="0.35" />
        `}
      </svg>
      <p class=${`small soft reading ${read ? "" : "no-print"}`} aria-live="off">
        ${read || (hasHint && hintOf(isContinuous))}
      </p>
    </div>
  `;
}

const LOG_ROOM = 16; // px below the scale, for values of 0

// Marks over time on a logarithmic axis; 0, which no logarithm has, stands below the scale. One point or more, by time:
// [{key, at (ms), value, shape, color, text, label}]; `text` is read out, `label` is written beside the mark.
// `line`: {value, name}, a reference line.
export function LogScatter({ points, label, unit, line, height = 290 }) {
  const [place, width] = useWidth();
  const [near, setNear] = useState(null); // index of the point that is read out
  const [from, to] = spread(points[0].at, points.at(-1).at);
  const bottom = height - PAD.bottom;
  const top = PAD.top + 14;
  const least = Math.min(...points.map(({ value }) => value || Infinity), line.value || Infinity);
  const most = Math.max(10, line.value, ...points.map(({ value }) => value));
  const low = Math.floor(Math.log10(Number.isFinite(least) ? least : 1));
  const high = Math.ceil(Math.log10(most) + 0.05);
  const end = width - PAD.right;
  const x = (at) => PAD.left + 6 + ((at - from) / (to - from)) * (end - PAD.left - 12);
  const y = (value) =>
    value > 0
      ? bottom - LOG_ROOM - ((Math.log10(value) - low) / (high - low)) * (bottom - LOG_ROOM - top)
      : bottom;
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const left = ((event.clientX - box.left) / box.width) * width;
    const down = ((event.clientY - box.top) / box.height) * height;
    const far = ({ at, value }) => (x(at) - left) ** 2 + (y(value) - down) ** 2;
    setNear(points.reduce((best, point, at) => (far(point) < far(points[best]) ? at : best), 0));
  };
  const press = (event) => {
    const next = KEYS[event.key]?.(near ?? points.length, points.length);
    if (next === undefined) return;
    event.preventDefault();
    setNear(Math.min(points.length - 1, Math.max(0, next)));
  };
  const levels = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
  const read = near === null ? "" : points[near].text;
  return html`
    <div class="stack tight" ref=${place}>
      <svg
        class="chart"
        viewBox=${`0 0 ${width} ${height}`}
        tabindex="0"
        role="slider"
        aria-label=${label}
        aria-valuemin="1"
        aria-valuemax=${points.length}
        aria-valuenow=${(near ?? points.length - 1) + 1}
        aria-valuetext=${read || t("chart.keys")}
        onPointerMove=${move}
        onPointerLeave=${() => setNear(null)}
        onKeyDown=${press}
        onBlur=${() => setNear(null)}
      >
        <text class="axis-name" x="2" y="11">${unit}</text>
        ${[...levels, ...(points.some(({ value }) => value === 0) ? [0] : [])].map((value) => html`
          <g key=${value}>
            <line class="axis" x1=${PAD.left} x2=${end} y1=${y(value)} y2=${y(value)} />
            <text x=${PAD.left - 8} y=${y(value) + 4} text-anchor="end">${axisText(value, most)}</text>
          </g>
        `)}
        <${TimeAxis} from=${from} to=${to} x=${x} y=${bottom} width=${width} isUtc />
        ${line.value > 0 && html`
          <line class="moment" x1=${PAD.left} x2=${end} y1=${y(line.value)} y2=${y(line.value)} />
          <text class="label" x=${PAD.left + 4} y=${y(line.value) - 5}>${line.name}</text>
        `}
        ${points.map((point, at) => html`
          <path
            key=${point.key}
            d=${point.shape}
            transform=${`translate(${x(point.at).toFixed(1)} ${y(point.value).toFixed(1)})`}
            fill=${point.color}
            fill-opacity="0.85"
            stroke=${at === near ? "currentColor" : undefined}
            stroke-width="1.5"
          />
        `)}
        ${pointLabels(points, x, y).map(({ point, at }) => html`
          <text
            key=${`l${point.key}`}
            class="label"
            x=${x(point.at) + (x(point.at) > width / 2 ? -9 : 9)}
            y=${at}
            text-anchor=${x(point.at) > width / 2 ? "end" : "start"}
          >
            ${point.label}
          </text>
        `)}
      </svg>
      <p class=${`small soft reading ${read ? "" : "no-print"}`} aria-live="off">${read || hintOf(true)}</p>
    </div>
  `;
}

// The labels beside marks, from top to bottom, moved down where they would overlap.
function pointLabels(points, x, y) {
  let free = -Infinity;
  return points
    .filter(({ label }) => label)
    .sort((a, b) => b.value - a.value)
    .map((point) => {
      const at = Math.max(y(point.value) + 4, free);
      free = at + LABEL_STEP;
      return { point, at };
    });
}

// A rising share over a number: points [{number, share, text}] from the second axis' 0 to 1; `marked`: the index of the
// point with a mark and `name` beside it.
export function ShareCurve({ points, label, unit, numberUnit, marked, name, height = 270 }) {
  const [place, width] = useWidth();
  const bottom = height - PAD.bottom - 16;
  const top = PAD.top + 14;
  const end = width - PAD.right;
  const last = points.at(-1).number;
  const x = (number) => PAD.left + (number / last) * (end - PAD.left);
  const y = (share) => bottom - share * (bottom - top);
  const path = points.map(({ number, share }) => `L${x(number).toFixed(1)} ${y(share).toFixed(1)}`).join("");
  const mark = points[marked];
  return html`
    <div ref=${place}>
      <svg class="chart" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label}>
        <text class="axis-name" x="2" y="11">${unit}</text>
        ${[0, 0.25, 0.5, 0.75, 1].map((share) => html`
          <g key=${share}>
            <line class="axis" x1=${PAD.left} x2=${end} y1=${y(share)} y2=${y(share)} />
            <text x=${PAD.left - 8} y=${y(share) + 4} text-anchor="end">${percent(share)}</text>
          </g>
        `)}
        ${ticks(0, last).filter(Number.isInteger).map((number) => html`
          <text key=${`x${number}`} x=${x(number)} y=${bottom + 18} text-anchor="middle">${count(number)}</text>
        `)}
        <text class="axis-name" x=${end} y=${bottom + 36} text-anchor="end">${numberUnit}</text>
        <path d=${`M${x(0)} ${y(0)}${path}`} fill="none" stroke=${COLORS[0]} stroke-width="2" stroke-linejoin="round" />
        <circle cx=${x(mark.number)} cy=${y(mark.share)} r="4" fill=${COLORS[0]} />
        <text class="label" x=${x(mark.number) + 10} y=${y(mark.share) + 14}>${name}</text>
      </svg>
    </div>
  `;
}

const HOUR = 36e5;
const TIME_STEPS = [1, 3, 6, 12, 24, 48, 168, 336, 720, 2160, 4320, 8760, 17_520].map((hours) => hours * HOUR);
const TICK_PX = 112; // a date with some room
const HALF_PX = 44; // half of a date

// Times of the axis, at whole hours or days of this place, or of UTC; the ends alone where a scale would be empty.
function timeTicks(from, to, most, isUtc = false) {
  const step = TIME_STEPS.find((length) => (to - from) / length <= most) ?? (to - from) / most;
  const start = new Date(from);
  if (isUtc) start.setUTCHours(0, 0, 0, 0);
  else start.setHours(0, 0, 0, 0);
  const first = start.getTime() + Math.ceil((from - start.getTime()) / step) * step;
  const times = Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, at) => first + at * step);
  return times.length > 1 ? times : [from, to];
}

export function TimeAxis({ from, to, x, y, width, left = PAD.left, isUtc = false }) {
  const zone = isUtc ? "UTC" : undefined;
  const isShort = to - from < 48 * HOUR;
  const places = timeTicks(from, to, Math.max(2, Math.floor((width - left - PAD.right) / TICK_PX)), isUtc);
  const side = (at) => (x(at) < left ? "start" : x(at) > width - HALF_PX ? "end" : "middle");
  return places.map((at) => html`
    <g key=${`t${at}`}>
      <line class="axis" x1=${x(at)} x2=${x(at)} y1=${y} y2=${y + 5} />
      <text x=${x(at)} y=${y + 18} text-anchor=${side(at)}>
        ${isShort ? clock(at / 1000, zone) : day(at / 1000, zone)}
      </text>
    </g>
  `);
}

// Names of lines with their colour and their dashes, as they are drawn.
function LineLegend({ series }) {
  return html`
    <div class="legend">
      ${series.map((line) => html`
        <span key=${line.key}>
          <svg width="26" height="12" viewBox="-13 -6 26 12" aria-hidden="true">
            <line x1="-13" x2="13" stroke=${line.color} stroke-width="2.5" stroke-dasharray=${line.dash} />
          </svg>${" "}
          <bdi>${visible(line.name)}</bdi>
        </span>
      `)}
    </div>
  `;
}

const isRange = ({ low, high }) => isKnown(low) && high > low;

function Line({ line, x, y, isContinuous }) {
  const runs = pieces(line.points, isContinuous ? Infinity : gapOf(line.points), line.hasBand);
  const corner = (at, value) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`;
  // A value that holds until the next time makes a step.
  const corners = (run, valueOf) =>
    run.flatMap((point, at) => [
      ...(isContinuous && at > 0 ? [corner(point.at, valueOf(run[at - 1]))] : []),
      corner(point.at, valueOf(point)),
    ]);
  return html`
    <g>
      ${line.hasBand && runs.filter((run) => run.length > 1 && run.some(isRange)).map((run) => html`
        <polygon
          key=${`b${run[0].at}`}
          points=${[
            ...corners(run, (point) => point.high ?? point.value),
            ...corners(run, (point) => point.low ?? point.value).toReversed(),
          ].join(" ")}
          fill=${line.color}
          fill-opacity="0.2"
        />
      `)}
      ${runs.map((run, at) => html`
        <polyline
          key=${at}
          points=${corners(run, (point) => point.value).join(" ")}
          fill="none"
          stroke=${line.color}
          stroke-width="2"
          stroke-dasharray=${line.dash}
          stroke-linejoin="round"
        />
      `)}
      ${runs.filter((run) => !line.hasBand || run.length === 1).flat().filter(isRange).map((point) => html`
        <line
          key=${`r${point.at}`}
          x1=${x(point.at)}
          x2=${x(point.at)}
          y1=${y(point.low)}
          y2=${y(point.high)}
          stroke=${line.color}
          stroke-width="5"
          stroke-opacity="0.35"
        />
      `)}
      ${
        line.points.length <= 300 &&
        runs.flat().map((point) => html`
          <circle key=${point.at} class="mark" cx=${x(point.at)} cy=${y(point.value)} r="3" fill=${line.color} />
        `)
      }
    </g>
  `;
}

function reading(line, at, isContinuous) {
  const point = line.points.findLast(
    (candidate) => (isContinuous ? candidate.at <= at : candidate.at === at) && isKnown(candidate.value),
  );
  if (!point) return null;
  const range = point.high > point.low ? ` (${count(point.low)} – ${count(point.high)})` : "";
  return `${line.name} ${count(point.value)}${range}`;
}
function spread(from, to) {
  return to > from ? [from, to] : [from - 43e6, to + 43e6];
}
function padded(low, high) {
  const room = (high - low) * 0.08 || Math.max(1, high * 0.05);
  return [low < 0 ? low - room : Math.max(0, low - room), high + room];
}

export const COLORS = [
  "var(--c1)",
  "var(--c2)",
  "var(--c3)",
  "var(--c4)",
  "var(--c5)",
  "var(--c6)",
  "var(--c7)",
  "var(--c8)",
];

// Lines and marks differ in print, too.
export const DASHES = [undefined, "7 3", "2 3", "10 3 2 3", "5 2", "1 2", "12 4", "8 3 2 3 2 3"];
export const SHAPES = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
  "M-4-4h8v8h-8z",
  "M0-5L5 4H-5z",
  "M0-5L5 0 0 5-5 0z",
  "M-5-4H5L0 5z",
  "M-5-1h10v2h-10zM-1-5h2v10h-2z",
  "M-5-3l2-2 8 8-2 2z",
  "M-4-4h8v3h-8zM-4 1h8v3h-8z",
];

const MAIN_SONGS = 8; // one per colour; the others are drawn faintly behind them

const LETTER = 6.4; // px; a Chinese character is twice as wide
const LABEL_GAP = 18; // px between the end of the axis and the labels of lines

// The width that the names of lines need.
function widthOf(series) {
  const letters = ({ name }) => [...visible(name)].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 2 : 1), 0);
  return LABEL_GAP + Math.max(...series.map(letters)) * LETTER;
}

// Ranks over time, scrolled to the newest issue, or to the last issue of a single song.
// songs: [{key, name, ranks: [rank or null per issue]}], those to colour first.
export function Bump({ songs, labels, depth: most, label, chosen, onChoose }) {
  // one song needs no empty ranks
  const depth = songs.length === 1 ? Math.min(most, Math.max(5, ...songs[0].ranks) + 1) : most;
  const [place, room] = useWidth();
  const left = 34;
  const gaps = Math.max(1, labels.length - 1);
  const behind = Math.min(190, room * 0.4); // the names, behind the last issue
  const step = Math.max(34, Math.min(90, Math.floor((room - left - behind) / gaps)));
  const width = left + step * gaps + behind;
  const height = depth * 22 + 50;
  const x = (at) => left + at * step;
  const y = (rank) => 16 + (rank - 1) * 22;
  const every = Math.ceil(86 / step);
  // Coloured are songs that reach the last column, where no name covers another; of the others the chosen one.
  const ends = new Map(songs.map((song) => [song.key, song.ranks.findLastIndex((rank) => rank !== null)]));
  const rightmost = Math.max(...ends.values());
  useEffect(() => {
    place.current.scrollLeft = x(rightmost) + behind - room;
  }, [rightmost, step, room]);
  const mains = songs.filter((song) => ends.get(song.key) === rightmost).slice(0, MAIN_SONGS);
  const isMain = (song) => (chosen ? chosen === song.key : mains.includes(song));
  const inkOf = (song) => (isMain(song) ? COLORS[Math.max(0, mains.indexOf(song))] : "var(--edge)");
  return html`
    <div class="chart-scroll" ref=${place} tabindex="0" role="region" aria-label=${label}>
      <svg
        class="chart"
        viewBox=${`0 0 ${width} ${height}`}
        style=${{ width: `${width}px` }}
        role="group"
        aria-label=${label}
      >
        <text class="axis-name" x="2" y=${height - 12}>${t("chart.rank")}</text>
        ${Array.from(
          { length: depth },
          (_, at) => html`<text key=${at} x=${left - 14} y=${y(at + 1) + 4} text-anchor="end">${at + 1}</text>`,
        )}
        ${labels.map(
          (name, at) =>
            at % every === 0 && html`
              <text key=${at} x=${x(at)} y=${height - 12} text-anchor=${at === 0 ? "start" : "middle"}>${name}</text>
            `,
        )}
        ${[...songs].sort((a, b) => isMain(a) - isMain(b)).map((song) => html`
          <g
            key=${song.key}
            class="song"
            role="img"
            aria-label=${spoken(song, labels)}
            tabindex=${mains.includes(song) ? 0 : undefined}
            opacity=${isMain(song) ? 1 : 0.3}
            onFocus=${() => onChoose?.(song.key)}
            onBlur=${() => onChoose?.(null)}
            onPointerEnter=${() => onChoose?.(song.key)}
            onPointerLeave=${() => onChoose?.(null)}
          >
            ${runs(song.ranks).map((run) => html`
              <polyline
                key=${run[0][0]}
                points=${run.map(([at, rank]) => `${x(at)},${y(rank)}`).join(" ")}
                fill="none"
                stroke=${inkOf(song)}
                stroke-width=${isMain(song) ? 2.5 : 1}
                stroke-linejoin="round"
              />
            `)}
            ${song.ranks.map(
              (rank, at) =>
                rank !== null && html`
                  <circle key=${at} cx=${x(at)} cy=${y(rank)} r=${isMain(song) ? 4 : 2.5} fill=${inkOf(song)}>
                    <title>${`${song.name}: ${rank}`}</title>
                  </circle>
                `,
            )}
            ${
              songs.length === 1 &&
              song.ranks.map(
                (rank, at) =>
                  rank !== null && html`
                    <text key=${`r${at}`} class="label" x=${x(at)} y=${y(rank) + 18} text-anchor="middle">${rank}</text>
                  `,
              )
            }
            ${isMain(song) && html`
              <text class="label" x=${x(ends.get(song.key)) + 10} y=${y(song.ranks[ends.get(song.key)]) + 4}>
                ${song.ranks[ends.get(song.key)]} ${shortened(song.name, (behind - 34) / LETTER)}
              </text>
            `}
          </g>
        `)}
      </svg>
    </div>
  `;
}

// A song with its ranks, for screen readers.
function spoken({ name, ranks }, labels) {
  return `${name}: ${ranks
    .map((rank, at) => rank !== null && `${labels[at]} ${rank}`)
    .filter(Boolean)
    .join(", ")}`;
}

// As much of a name as fits into the width of so many letters.
export function shortened(name, room) {
  let space = room;
  const letters = [...name];
  const end = letters.findIndex((letter) => {
    space -= letter > "\u2e7f" ? 2 : 1;
    return space < 0;
  });
  return end < 0 ? name : `${letters.slice(0, Math.max(1, end)).join("").trimEnd()}…`;
}

function runs(ranks) {
  const runs = [];
  let open = null;
  ranks.forEach((rank, at) => {
    if (rank === null) {
      open = null;
      return;
    }
    if (!open) {
      open = [];
      runs.push(open);
    }
    open.push([at, rank]);
  });
  return runs;
}
