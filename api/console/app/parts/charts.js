// SVG charts. A canvas library of 42 kB would draw the same, but screen readers could not read it.
import { html, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { compact, count, day, moment } from "../format.js";
import "../messages/chart.js";

export const PAD = { left: 58, right: 16, top: 12, bottom: 26 };

// Charts are drawn at the width of their container, so that text has the same size on a phone.
export function useWidth() {
  const place = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const seen = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    seen.observe(place.current);
    return () => seen.disconnect();
  }, []);
  return [place, Math.max(280, width)];
}

export function Bars({ items, label }) {
  const most = Math.max(1, ...items.map((item) => item.value ?? 0));
  return html`<div class="bars" role="list" aria-label=${label}>${items.map((item) => html`
    <span key=${`${item.key}n`} role="listitem" class="one-line">${item.name}<span class="hidden">: ${count(item.value)}</span></span>
    <span key=${`${item.key}b`} class="bar-line" aria-hidden="true"><span style=${{ width: `${((item.value ?? 0) / most) * 100}%`, background: item.color }}></span></span>
    <span key=${`${item.key}v`} class="num" aria-hidden="true">${item.shown ?? count(item.value)}</span>`)}</div>`;
}

export function ticks(low, high, wanted = 4) {
  if (!(high > low)) return [low];
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

export function axisText(value, range) {
  if (range < 8) return String(Number(value.toPrecision(4)));
  return range < 2000 ? count(Math.round(value)) : compact(value);
}

// Splits a line where observations are further apart than `gapMs`.
function pieces(points, gapMs) {
  const found = [];
  let last = null;
  for (const point of points) {
    if (point.value === null || point.value === undefined) continue; // this observation has other counts
    if (last === null || point.at - last.at > gapMs) found.push([]);
    found.at(-1).push(point);
    last = point;
  }
  return found;
}

// Four times the median distance of observations counts as a gap.
export function gapOf(points) {
  const steps = points.slice(1).map((point, at) => point.at - points[at].at).filter((step) => step > 0).sort((a, b) => a - b);
  return steps.length ? Math.max(steps[Math.floor(steps.length / 2)] * 4, 36e5) : Infinity;
}

// series: [{key, name, color, dash, points: [{at (ms), value, low, high}]}]. A rounded value is a range.
// marks: [{at (ms), name}], vertical reference lines.
// `isContinuous`: the values hold between their times, so no gap interrupts a line.
export function TimeLines({ series, label, marks = [], height = 240, isContinuous = false }) {
  const all = series.flatMap((one) => one.points.filter((point) => point.value !== null));
  return all.length ? html`<${Lines} all=${all} series=${series} label=${label} marks=${marks} height=${height} isContinuous=${isContinuous} />` : html`<p class="soft small">${t("chart.no_points")}</p>`;
}

function Lines({ all, series, label, marks, height, isContinuous }) {
  const [place, width] = useWidth();
  const [near, setNear] = useState(null);
  const times = all.map((point) => point.at);
  const shown = [...times, ...marks.map((mark) => mark.at)];
  const [from, to] = spread(Math.min(...shown), Math.max(...shown));
  const tops = all.map((point) => point.high ?? point.value);
  const lows = all.map((point) => point.low ?? point.value);
  const [low, high] = padded(Math.min(...lows), Math.max(...tops));
  const x = (at) => PAD.left + ((at - from) / (to - from)) * (width - PAD.left - PAD.right);
  const y = (value) => PAD.top + (1 - (value - low) / (high - low)) * (height - PAD.top - PAD.bottom);
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = from + (((event.clientX - box.left) / box.width) * width - PAD.left) / (width - PAD.left - PAD.right) * (to - from);
    setNear(times.reduce((best, one) => (Math.abs(one - at) < Math.abs(best - at) ? one : best), times[0]));
  };
  return html`<div class="stack tight" ref=${place}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label} onPointerMove=${move} onPointerLeave=${() => setNear(null)}>
    ${ticks(low, high).map((value) => html`<g key=${value}><line class="axis" x1=${PAD.left} x2=${width - PAD.right} y1=${y(value)} y2=${y(value)} /><text x=${PAD.left - 8} y=${y(value) + 4} text-anchor="end">${axisText(value, high - low)}</text></g>`)}
    ${[[from, "start"], [(from + to) / 2, "middle"], [to, "end"]].filter(([, end]) => end !== "middle" || width > 420).map(([at, end]) => html`<text key=${at} x=${x(at)} y=${height - 6} text-anchor=${end}>${to - from < 2 * 864e5 ? moment(at / 1000) : day(at / 1000)}</text>`)}
    ${series.map((one) => html`<${Line} key=${one.key} one=${one} x=${x} y=${y} isContinuous=${isContinuous} />`)}
    ${marks.map((mark) => html`<g key=${mark.at}><line class="moment" x1=${x(mark.at)} x2=${x(mark.at)} y1=${PAD.top} y2=${height - PAD.bottom} /><text class="label" x=${x(mark.at) + (mark.at > (from + to) / 2 ? -6 : 6)} y=${PAD.top + 10} text-anchor=${mark.at > (from + to) / 2 ? "end" : "start"}>${mark.name}</text></g>`)}
    ${near !== null && html`<line x1=${x(near)} x2=${x(near)} y1=${PAD.top} y2=${height - PAD.bottom} stroke="currentColor" stroke-opacity="0.35" />`}
  </svg>
  <p class="small soft" aria-live="off">${near === null ? t(isContinuous ? "chart.hover" : "chart.hover_gaps") : `${moment(near / 1000)}: ${series.map((one) => reading(one, near, isContinuous)).filter(Boolean).join(" · ")}`}</p></div>`;
}

function Line({ one, x, y, isContinuous }) {
  return html`<g>${pieces(one.points, isContinuous ? Infinity : gapOf(one.points)).map((piece, at) => html`<polyline key=${at} points=${piece.map((point) => `${x(point.at).toFixed(1)},${y(point.value).toFixed(1)}`).join(" ")} fill="none" stroke=${one.color} stroke-width="2" stroke-dasharray=${one.dash} stroke-linejoin="round" />`)}
    ${one.points.filter((point) => point.low !== undefined && point.low !== null && point.high > point.low).map((point) => html`<line key=${`r${point.at}`} x1=${x(point.at)} x2=${x(point.at)} y1=${y(point.low)} y2=${y(point.high)} stroke=${one.color} stroke-width="5" stroke-opacity="0.35" />`)}
    ${one.points.length <= 300 && one.points.filter((point) => point.value !== null).map((point) => html`<circle key=${point.at} class="mark" cx=${x(point.at)} cy=${y(point.value)} r="3" fill=${one.color} />`)}</g>`;
}

function reading(one, at, isContinuous) {
  const point = one.points.findLast((candidate) => (isContinuous ? candidate.at <= at : candidate.at === at) && candidate.value !== null);
  if (!point) return null;
  const range = point.high > point.low ? ` (${count(point.low)} – ${count(point.high)})` : "";
  return `${one.name} ${count(point.value)}${range}`;
}
function spread(from, to) {
  return to > from ? [from, to] : [from - 43e6, to + 43e6];
}
function padded(low, high) {
  const room = (high - low) * 0.08 || Math.max(1, high * 0.05);
  return [low < 0 ? low - room : Math.max(0, low - room), high + room];
}

export const COLORS = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)", "var(--c8)"];

const MAIN_SONGS = 8; // one per colour; the others are drawn faintly behind them

const LETTER = 6.4; // px; a Chinese character is twice as wide

// Ranks over time, scrolled to the newest issue, or to the last issue of a single song. songs: [{key, name, color, ranks: [rank or null per issue]}].
export function Bump({ songs, labels, depth, label, chosen, onChoose }) {
  const [place, room] = useWidth();
  const left = 34;
  const gaps = Math.max(1, labels.length - 1);
  const behind = Math.min(190, room * 0.4); // the names, behind the last issue
  const step = Math.max(34, Math.min(90, Math.floor((room - left - behind) / gaps)));
  const width = left + step * gaps + behind;
  const height = depth * 22 + 50;
  const x = (at) => left + at * step;
  const last = songs.length === 1 ? songs[0].ranks.findLastIndex((rank) => rank !== null) : labels.length - 1;
  useEffect(() => { place.current.scrollLeft = x(last) + behind - room; }, [last, step, room]);
  const y = (rank) => 16 + (rank - 1) * 22;
  const every = Math.ceil(86 / step);
  const isMain = (song) => (chosen ? chosen === song.key : songs.indexOf(song) < MAIN_SONGS);
  const inkOf = (song) => (isMain(song) ? song.color : "var(--edge)");
  return html`<div class="chart-scroll" ref=${place} tabindex="0" role="region" aria-label=${label}><svg class="chart" viewBox=${`0 0 ${width} ${height}`} style=${{ width: `${width}px` }} role="img" aria-label=${label}>
    ${Array.from({ length: depth }, (_, at) => html`<text key=${at} x=${left - 14} y=${y(at + 1) + 4} text-anchor="end">${at + 1}</text>`)}
    ${labels.map((name, at) => at % every === 0 && html`<text key=${at} x=${x(at)} y=${height - 12} text-anchor=${at === 0 ? "start" : "middle"}>${name}</text>`)}
    ${[...songs].sort((a, b) => isMain(a) - isMain(b)).map((song) => html`<g key=${song.key} opacity=${isMain(song) ? 1 : 0.3} onPointerEnter=${() => onChoose?.(song.key)} onPointerLeave=${() => onChoose?.(null)}>
      ${runs(song.ranks).map((run) => html`<polyline key=${run[0][0]} points=${run.map(([at, rank]) => `${x(at)},${y(rank)}`).join(" ")} fill="none" stroke=${inkOf(song)} stroke-width=${isMain(song) ? 2.5 : 1} stroke-linejoin="round" />`)}
      ${song.ranks.map((rank, at) => rank !== null && html`<circle key=${at} cx=${x(at)} cy=${y(rank)} r=${isMain(song) ? 4 : 2.5} fill=${inkOf(song)}><title>${`${song.name}: ${rank}`}</title></circle>`)}
      ${songs.length === 1 && song.ranks.map((rank, at) => rank !== null && html`<text key=${`r${at}`} class="label" x=${x(at)} y=${y(rank) + 18} text-anchor="middle">${rank}</text>`)}
      ${isMain(song) && song.ranks.at(-1) !== null && html`<text class="label" x=${x(labels.length - 1) + 10} y=${y(song.ranks.at(-1)) + 4}>${song.ranks.at(-1)} ${shortened(song.name, (behind - 34) / LETTER)}</text>`}</g>`)}
  </svg></div>`;
}

function shortened(name, room) {
  let left = room;
  const letters = [...name];
  const end = letters.findIndex((letter) => { left -= letter > "\u2e7f" ? 2 : 1; return left < 0; });
  return end < 0 ? name : `${letters.slice(0, end).join("").trimEnd()}…`;
}

function runs(ranks) {
  const found = [];
  let open = null;
  ranks.forEach((rank, at) => {
    if (rank === null) { open = null; return; }
    if (!open) { open = []; found.push(open); }
    open.push([at, rank]);
  });
  return found;
}
