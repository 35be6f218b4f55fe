// SVG charts. A canvas library of 42 kB would draw the same, but screen readers could not read it.
import { clock, compact, count, day, moment, visible } from "../format.js";
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

// Splits a line where observations are further apart than `gapMs`.
function pieces(points, gapMs) {
  const runs = [];
  let last = null;
  for (const point of points) {
    if (point.value === null || point.value === undefined) continue; // this observation has other counts
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

// series: [{key, name, color, dash, points: [{at (ms), value, low, high}]}]. A rounded value is a range.
// marks: [{at (ms), name}], vertical reference lines. steps: [{at (ms), name}], marks on the time axis.
// `unit`: what the values count, written over their axis.
// `isContinuous`: the values hold between their times, so no gap interrupts a line.
// `isUtc`: times are written in UTC, and days of UTC without a time; else in the zone of the reader.
export function TimeLines({
  series,
  label,
  unit,
  marks = [],
  steps = [],
  height = 240,
  isContinuous = false,
  hasHint = true,
  isUtc = false,
}) {
  const all = series.flatMap((line) => line.points.filter((point) => point.value !== null));
  if (!all.length) return html`<p class="soft small">${t("chart.no_points")}</p>`;
  return html`
    ${series.length > 1 && html`<${LineLegend} series=${series} />`}
    <${Lines} ...${{ all, series, label, unit, marks, steps, height, isContinuous, hasHint, isUtc }} />
  `;
}

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

function Lines({ all, series, label, unit, marks, steps, height, isContinuous, hasHint, isUtc }) {
  const [place, width] = useWidth();
  const [near, setNear] = useState(null); // the time whose values are read out, by pointer or by keys
  const times = useMemo(
    () => [...new Set([...all, ...steps].map((point) => point.at))].sort((a, b) => a - b),
    [series, steps],
  );
  const allTimes = [...times, ...marks.map((mark) => mark.at)];
  const [from, to] = spread(Math.min(...allTimes), Math.max(...allTimes));
  const tops = all.map((point) => point.high ?? point.value);
  const lows = all.map((point) => point.low ?? point.value);
  const [low, high] = padded(Math.min(...lows), Math.max(...tops));
  const levels = ticks(low, high).filter(
    (value) => Number.isInteger(value) || !all.every((point) => Number.isInteger(point.value)),
  );
  const top = PAD.top + (unit ? 14 : 0);
  const x = (at) => PAD.left + ((at - from) / (to - from)) * (width - PAD.left - PAD.right);
  const y = (value) => top + (1 - (value - low) / (high - low)) * (height - top - PAD.bottom);
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at =
      from +
      ((((event.clientX - box.left) / box.width) * width - PAD.left) / (width - PAD.left - PAD.right)) * (to - from);
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
  const bottom = height - PAD.bottom;
  return html`
    <div class="stack tight" ref=${place}>
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
            <line class="axis" x1=${PAD.left} x2=${width - PAD.right} y1=${y(value)} y2=${y(value)} />
            <text x=${PAD.left - 8} y=${y(value) + 4} text-anchor="end">${axisText(value, high - low)}</text>
          </g>
        `)}
        <${TimeAxis} from=${from} to=${to} x=${x} y=${bottom} width=${width} isUtc=${isUtc} />
        ${series.map((line) => html`
          <${Line} key=${line.key} line=${line} x=${x} y=${y} isContinuous=${isContinuous} />
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

function Line({ line, x, y, isContinuous }) {
  return html`
    <g>
      ${pieces(line.points, isContinuous ? Infinity : gapOf(line.points)).map((piece, at) => html`
        <polyline
          key=${at}
          points=${piece.map((point) => `${x(point.at).toFixed(1)},${y(point.value).toFixed(1)}`).join(" ")}
          fill="none"
          stroke=${line.color}
          stroke-width="2"
          stroke-dasharray=${line.dash}
          stroke-linejoin="round"
        />
      `)}
      ${line.points.filter((point) => point.low !== undefined && point.low !== null && point.high > point.low)
        .map((point) => html`
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
        line.points.filter((point) => point.value !== null).map((point) => html`
          <circle key=${point.at} class="mark" cx=${x(point.at)} cy=${y(point.value)} r="3" fill=${line.color} />
        `)
      }
    </g>
  `;
}

function reading(line, at, isContinuous) {
  const point = line.points.findLast(
    (candidate) => (isContinuous ? candidate.at <= at : candidate.at === at) && candidate.value !== null,
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

const MAIN_SONGS = 8; // one per colour; the others are drawn faintly behind them

const LETTER = 6.4; // px; a Chinese character is twice as wide

// Ranks over time, scrolled to the newest issue, or to the last issue of a single song.
// songs: [{key, name, color, ranks: [rank or null per issue]}].
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
  const last = songs.length === 1 ? songs[0].ranks.findLastIndex((rank) => rank !== null) : labels.length - 1;
  useEffect(() => {
    place.current.scrollLeft = x(last) + behind - room;
  }, [last, step, room]);
  const y = (rank) => 16 + (rank - 1) * 22;
  const every = Math.ceil(86 / step);
  const isMain = (song) => (chosen ? chosen === song.key : songs.indexOf(song) < MAIN_SONGS);
  const inkOf = (song) => (isMain(song) ? song.color : "var(--edge)");
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
            tabindex=${songs.indexOf(song) < MAIN_SONGS ? 0 : undefined}
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
            ${isMain(song) && song.ranks.at(-1) !== null && html`
              <text class="label" x=${x(labels.length - 1) + 10} y=${y(song.ranks.at(-1)) + 4}>
                ${song.ranks.at(-1)} ${shortened(song.name, (behind - 34) / LETTER)}
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
