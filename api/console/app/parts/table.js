// A virtualised table: only visible rows are in the DOM, unless it is printed. Narrow screens show the
// rows as cards.
import { html, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { holdPictures } from "./picture.js";
import { Pop } from "./ui.js";
import "../messages/page.js";

const ROW_PX = 62;
const DENSE_PX = 36;
const CARD_PX = 132; // heights as in data.css
const SPARE = 6; // rows drawn above and below the visible ones
const REST_MS = 200;
const FAST_ROWS = 2; // rows scrolled between two frames from which nobody can read them
const px = (value) => `${value}px`;
export const narrow = matchMedia("(max-width: 640px)");
const printed = matchMedia("print");

export function useMedia(media) {
  const [isMatched, setMatched] = useState(media.matches);
  useEffect(() => {
    const update = () => setMatched(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, [media]);
  return isMatched;
}

// Range of the rows to draw for the scroll position of a box. Its state changes only when another row is the first
// visible one.
function useWindow(total, rowPx) {
  const box = useRef(null);
  const [row, setRow] = useState(0); // the first one in sight
  const [height, setHeight] = useState(800);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let at = 0;
    const scrolled = () => {
      const now = Math.floor(element.scrollTop / rowPx);
      if (Math.abs(now - at) >= FAST_ROWS) holdPictures();
      at = now;
      setRow(now);
    };
    const watch = new ResizeObserver(() => setHeight(element.clientHeight || 800));
    scrolled();
    watch.observe(element);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      element.removeEventListener("scroll", scrolled);
      watch.disconnect();
    };
  }, [total === 0, rowPx]);
  // A printed page cannot be scrolled, so all rows are drawn.
  if (useMedia(printed)) return { box, first: 0, last: total, before: 0, after: 0, isWhole: true };
  const first = Math.max(0, Math.min(total, row) - SPARE);
  const last = Math.min(total, row + 1 + Math.ceil(height / rowPx) + SPARE);
  return { box, first, last, before: first * rowPx, after: (total - last) * rowPx };
}

// Widths of the columns as the first rows need them. With fixed widths the browser lays out only new rows while the
// table is scrolled. If values turn out to be wider when scrolling ends, the columns are measured again.
function useWidths({ box, isWhole }, look, cells) {
  const [measured, setMeasured] = useState({});
  const isMeasured = measured.look === look && !isWhole;
  useEffect(() => {
    if (isMeasured || isWhole || !box.current) return;
    const heads = box.current.querySelectorAll("thead th");
    setMeasured({
      look,
      widths: Array.from(heads, (head) => head.getBoundingClientRect().width),
      room: box.current.clientWidth,
    });
  }, [isMeasured, isWhole, look]);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let timer = 0;
    const check = () => {
      if (Array.from(element.querySelectorAll(cells)).some((cell) => cell.scrollWidth > cell.clientWidth + 1))
        setMeasured({});
    };
    const scrolled = () => {
      clearTimeout(timer);
      timer = setTimeout(check, REST_MS);
    };
    const watch = new ResizeObserver(() => setMeasured((now) => (now.room === element.clientWidth ? now : {})));
    watch.observe(element);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      clearTimeout(timer);
      element.removeEventListener("scroll", scrolled);
      watch.disconnect();
    };
  }, [cells]);
  return isMeasured ? measured.widths : null;
}

// Keeps the drawn rows of the window, so that scrolling draws only new rows.
function useDrawnRows(rows, look) {
  const kept = useRef({});
  if (kept.current.rows !== rows || kept.current.look !== look) kept.current = { rows, look, drawn: new Map() };
  return (first, last, draw) => {
    const drawn = new Map();
    for (let at = first; at < last; at += 1) drawn.set(at, kept.current.drawn.get(at) ?? draw(rows[at], at));
    kept.current.drawn = drawn;
    return [...drawn.values()];
  };
}

// columns: [{key, label, num, render(row), sort, ascends, class}]; `card(row)` draws a row on a phone.
// Rows are lower with `dense`, and as wide as their values.
export function Table({ rows, columns, keyOf, caption, card, order, onOrder, dense = false }) {
  const isNarrow = useMedia(narrow) && card;
  const visible = useWindow(rows.length, isNarrow ? CARD_PX : dense ? DENSE_PX : ROW_PX);
  const drawn = useDrawnRows(rows, isNarrow ? card : columns);
  const widths = useWidths(
    visible,
    isNarrow ? "" : columns.map((column) => column.label).join("|"),
    dense ? "tbody td.num" : "tbody tr.data td",
  );
  if (isNarrow) {
    return html`
      <ol class="cards" ref=${visible.box} tabindex="0" aria-label=${caption}>
        <li class="gap" aria-hidden="true" style=${{ height: px(visible.before) }}></li>
        ${drawn(visible.first, visible.last, (row) => html`<li class="data" key=${keyOf(row)}>${card(row)}</li>`)}
        <li class="gap" aria-hidden="true" style=${{ height: px(visible.after) }}></li>
      </ol>
    `;
  }
  return html`
    <div class="table-wrap" ref=${visible.box} tabindex="0" role="region" aria-label=${caption}>
      <table
        class=${dense ? "fixed dense" : "fixed"}
        style=${widths && { tableLayout: "fixed", width: px(widths.reduce((sum, width) => sum + width, 0)) }}
        aria-rowcount=${rows.length + 1}
      >
        <caption class="hidden">${caption}</caption>
        <thead>
          <tr>
            ${columns.map((column, at) => html`
              <${Th} key=${column.key} column=${column} order=${order} onOrder=${onOrder} width=${widths?.[at]} />
            `)}
          </tr>
        </thead>
        <tbody>
          ${visible.before > 0 && html`
            <tr class="gap" aria-hidden="true">
              <td colspan=${columns.length} style=${{ height: px(visible.before) }}></td>
            </tr>
          `}
          ${drawn(visible.first, visible.last, (row, at) => html`
            <tr class="data" key=${keyOf(row)} aria-rowindex=${at + 2}>
              ${columns.map((column) => html`
                <td key=${column.key} class=${`${column.num ? "num" : ""} ${column.class ?? ""}`}>
                  ${column.render(row)}
                </td>
              `)}
            </tr>
          `)}
          ${visible.after > 0 && html`
            <tr class="gap" aria-hidden="true">
              <td colspan=${columns.length} style=${{ height: px(visible.after) }}></td>
            </tr>
          `}
        </tbody>
      </table>
    </div>
  `;
}

function Th({ column, order, onOrder, width }) {
  const sorted = order && column.sort === order ? (column.ascends ? "ascending" : "descending") : undefined;
  return html`
    <th scope="col" class=${column.num ? "num" : ""} style=${width && { width: px(width) }} aria-sort=${sorted}>
      ${column.sort && onOrder ? html`
        <button type="button" onClick=${() => onOrder(column.sort)}>
          ${column.label}
          ${sorted ? (column.ascends ? " ↑" : " ↓") : ""}
        </button>
      ` : column.label}
    </th>
  `;
}

// A short table without virtualisation.
export function PlainTable({ rows, columns, keyOf, caption }) {
  return html`
    <div class="table-wrap short" tabindex="0" role="region" aria-label=${caption}>
      <table>
        <caption class="hidden">${caption}</caption>
        <thead>
          <tr>
            ${columns.map((column) => html`
              <th key=${column.key} scope="col" class=${column.num ? "num" : ""}>${column.label}</th>
            `)}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row, at) => html`
            <tr key=${keyOf(row, at)}>
              ${columns.map((column) => html`
                <td key=${column.key} class=${`${column.num ? "num" : ""} ${column.class ?? ""}`}>
                  ${column.render(row)}
                </td>
              `)}
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

export function ColumnChoice({ columns, hidden, onChange }) {
  const flip = (key) => onChange(hidden.includes(key) ? hidden.filter((other) => other !== key) : [...hidden, key]);
  return html`
    <${Pop} label=${t("table.columns")}>
      ${columns.filter((column) => !column.always).map((column) => html`
        <label class="check" key=${column.key}>
          <input type="checkbox" checked=${!hidden.includes(column.key)} onChange=${() => flip(column.key)} />
          <span>${column.label}</span>
        </label>
      `)}
    <//>
  `;
}
