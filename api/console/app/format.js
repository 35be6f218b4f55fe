// Formats numbers, times and untrusted text for display. Unknown values are a dash, never 0.
import { html } from "./html.js";
import { lang } from "./state.js";

const locale = () => (lang.value === "zh" ? "zh-CN" : "en-GB");
const formats = new Map();
function formatter(key, make) {
  const id = `${locale()}|${key}`;
  if (!formats.has(id)) formats.set(id, make(locale()));
  return formats.get(id);
}

export const DASH = "—";

export function count(value) {
  if (value === null || value === undefined) return DASH;
  return formatter("count", (l) => new Intl.NumberFormat(l)).format(value);
}
export function compact(value) {
  if (value === null || value === undefined) return DASH;
  const options = { notation: "compact", maximumFractionDigits: 1 };
  return formatter("compact", (l) => new Intl.NumberFormat(l, options)).format(value);
}
export function decimal(value, digits = 2) {
  if (value === null || value === undefined) return DASH;
  return value.toFixed(digits);
}
// A share of 0 to 1 as percent.
export function percent(share) {
  if (share === null || share === undefined) return DASH;
  const options = { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return formatter("percent", (l) => new Intl.NumberFormat(l, options)).format(share);
}
// Days and times are those of the reader's place, or of `timeZone`.
export function day(value, timeZone) {
  const date = toDate(value);
  if (!date) return DASH;
  return formatter(`day ${timeZone}`, (l) => new Intl.DateTimeFormat(l, { dateStyle: "medium", timeZone })).format(
    date,
  );
}
// Publication of a video: the stated time, else the time in its id, marked as approximate.
export function published(video) {
  if (video.create_time !== null && video.create_time !== undefined) return day(video.create_time);
  return video.created_at ? `≈ ${day(video.created_at)}` : DASH;
}
export function publishedAt(video) {
  return video.create_time ?? (video.created_at ? Date.parse(video.created_at) / 1000 : null);
}
export function moment(value, timeZone) {
  const date = toDate(value);
  if (!date) return DASH;
  const options = { dateStyle: "medium", timeStyle: "short", timeZone };
  return formatter(`moment ${timeZone}`, (l) => new Intl.DateTimeFormat(l, options)).format(date);
}
// The time alone of a moment of today; any other as `otherwise` writes it.
export function momentOrTime(value, otherwise = moment) {
  const date = toDate(value);
  if (date?.toDateString() !== new Date().toDateString()) return otherwise(value);
  return formatter("time", (l) => new Intl.DateTimeFormat(l, { timeStyle: "short" })).format(date);
}
// Day and time without the year, for an axis.
export function clock(value, timeZone) {
  const options = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone };
  return formatter(`clock ${timeZone}`, (l) => new Intl.DateTimeFormat(l, options)).format(toDate(value));
}
export function seconds(value) {
  if (value === null || value === undefined) return DASH;
  const whole = Math.max(0, Math.round(value));
  const minutes = Math.floor(whole / 60);
  return minutes ? `${minutes}:${String(whole % 60).padStart(2, "0")}` : `${whole} ${lang.value === "zh" ? "秒" : "s"}`;
}
export function bytes(value) {
  if (value === null || value === undefined) return DASH;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (value >= 1000 && step < units.length - 1) {
    value /= 1000;
    step += 1;
  }
  return `${value.toFixed(step && value < 100 ? 1 : 0)}\u00a0${units[step]}`;
}
function toDate(value) {
  if (value === null || value === undefined || value === "") return null;
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? null : date;
}

// Control characters become visible symbols; bidirectional control marks are removed.
export function visible(text) {
  return String(text ?? "")
    .replace(/[\u0000-\u001f]/g, (sign) => (/\s/.test(sign) ? " " : String.fromCharCode(0x2400 + sign.charCodeAt(0))))
    .replace(/[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "");
}

// The trimmed parts of a text, without empty ones.
export const partsOf = (text, separator) =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean);

// Text from the platform. <bdi> isolates its direction, so that it cannot reorder its neighbours.
export function Foreign({ text, none = DASH }) {
  const printable = visible(text).trim();
  return printable ? html`<bdi dir="auto">${printable}</bdi>` : html`<span class="soft">${none}</span>`;
}
// Returns http(s) links only; anything else, such as javascript:, is shown as text.
export function safeLink(address) {
  return /^https?:\/\//i.test(address ?? "") ? address : null;
}
