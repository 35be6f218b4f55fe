// A virtualised table: only visible rows are in the DOM, unless it is printed. Narrow screens show the
// rows as cards. Any table is sorted by its headers, and a named one keeps its columns and their widths.
import { count, Foreign } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { changeTable, lang, tableChoices } from "../state.js";
import { holdPictures } from "./media/picture.js";
import { Pop } from "./ui.js";
import "../messages/page.js";

const ROW_PX = 62;
const DENSE_PX = 36;
const CARD_PX = 156; // heights as in data.css
const SPARE = 6; // rows drawn above and below the visible ones
const REST_MS = 200;
const MIN_WIDTH = 44;
const WIDTH_STEP = 16;
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

// Sorting. An order is the name of a service's order, or the key of a column, with "-" in front if the largest come
// first. A column has `sort`, its orders of the service (the largest first, the smallest first, then its own order if
// a third press returns to it), or `value(row)`, by which the page sorts rows that it holds.

function directionOf(column, order) {
  if (column.sort) return [undefined, "descending", "ascending"][column.sort.indexOf(order) + 1];
  return { [column.key]: "ascending", [`-${column.key}`]: "descending" }[order];
}
// The order that a press on the header of a column asks for.
function nextOrder(column, order) {
  const orders = [...(column.sort ?? [`-${column.key}`, column.key])];
  if (!column.num || column.ascends) orders.splice(0, 2, ...orders.slice(0, 2).reverse());
  return orders[(orders.indexOf(order) + 1) % orders.length];
}

// The rows in the order of one of the columns; unknown values come last in both directions.
export function sortRows(rows, columns, order) {
  const column = columns.find(({ key, value }) => value && (order === key || order === `-${key}`));
  if (!column) return rows;
  const sign = order === column.key ? 1 : -1;
  const texts = new Intl.Collator(lang.value, { numeric: true });
  const valueOf = (row) => column.value(row) ?? null;
  return [...rows].sort((row, other) => {
    const [a, b] = [valueOf(row), valueOf(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "string" ? texts.compare(a, b) : a - b);
  });
}

// What a cell shows: as the column renders it, or its value.
function Cell({ column, row }) {
  if (column.render) return column.render(row);
  return column.num ? count(column.value(row)) : html`<${Foreign} text=${column.value(row)} />`;
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
function useDrawnRows(rows, ...look) {
  const kept = useRef({});
  if (kept.current.rows !== rows || look.some((part, at) => kept.current.look?.[at] !== part))
    kept.current = { rows, look, drawn: new Map() };
  return (first, last, draw) => {
    const drawn = new Map();
    for (let at = first; at < last; at += 1) drawn.set(at, kept.current.drawn.get(at) ?? draw(rows[at], at));
    kept.current.drawn = drawn;
    return [...drawn.values()];
  };
}

// columns: [{key, label, head, num, value(row), render(row), sort, ascends, bar, class}]; `head` is drawn in place of
// the label, `bar` draws a bar while the table is sorted by the column. `card(row)` draws a row on a phone. `name`:
// under which the browser keeps the widths. `rowClass(row)`: a class of its row. Rows are lower with `dense`, and as
// wide as their values.
export function Table({ rows, columns, keyOf, caption, card, order, onOrder, name, rowClass, dense = false }) {
  const isNarrow = useMedia(narrow) && card;
  const visible = useWindow(rows.length, isNarrow ? CARD_PX : dense ? DENSE_PX : ROW_PX);
  const chosen = tableChoices.value[name]?.widths ?? {};
  const drawn = useDrawnRows(rows, isNarrow ? card : columns, Object.keys(chosen).join());
  const measured = useWidths(
    visible,
    isNarrow ? "" : [...columns.map((column) => column.label), order].join("|"), // the sorted one has an arrow
    dense ? "tbody td.num" : "tbody tr.data td:not(.chosen-width)",
  );
  const widths = measured && columns.map((column, at) => chosen[column.key] ?? measured[at]);
  const barred = columns.find((column) => column.bar && directionOf(column, order));
  const longest = useMemo(
    () => barred && rows.reduce((most, row) => Math.max(most, barred.value(row) ?? 0), 0),
    [rows, barred],
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
              <${Th}
                key=${column.key}
                column=${column}
                order=${order}
                onOrder=${onOrder}
                width=${widths?.[at]}
                onWidth=${name && ((width) => changeTable(name, { widths: { ...chosen, [column.key]: width } }))}
              />
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
            <tr class=${`data ${rowClass?.(row) ?? ""}`} key=${keyOf(row)} aria-rowindex=${at + 2}>
              ${columns.map((column) => html`
                <td
                  key=${column.key}
                  class=${[column.num && "num", column.class, column.key in chosen && "chosen-width"]
                    .filter(Boolean)
                    .join(" ")}
                >
                  <${Cell} column=${column} row=${row} />
                  ${column === barred && html`
                    <span class="cell-bar" aria-hidden="true">
                      <i style=${{ width: `${longest ? (100 * (column.value(row) ?? 0)) / longest : 0}%` }}></i>
                    </span>
                  `}
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

// A header that sorts, and whose edge, or Shift with an arrow key, changes the width of the column.
function Th({ column, order, onOrder, width, onWidth }) {
  const head = useRef(null);
  const sorted = order && directionOf(column, order);
  const isSortable = onOrder && (column.sort || column.value);
  const widen = (change, from = head.current.offsetWidth) => onWidth(Math.max(MIN_WIDTH, Math.round(from + change)));
  const press = (event) => {
    const step = { ArrowLeft: -WIDTH_STEP, ArrowRight: WIDTH_STEP }[event.key];
    if (!onWidth || !event.shiftKey || !step) return;
    event.preventDefault();
    widen(step);
  };
  const drag = (event) => {
    const [edge, start, from] = [event.currentTarget, event.clientX, head.current.offsetWidth];
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => widen(move.clientX - start, from);
    edge.onlostpointercapture = () => {
      edge.onpointermove = null;
    };
  };
  return html`
    <th
      scope="col"
      ref=${head}
      class=${column.num ? "num" : ""}
      style=${width && { width: px(width) }}
      aria-sort=${sorted || undefined}
    >
      ${column.head ?? (isSortable ? html`
        <button
          type="button"
          onClick=${() => onOrder(nextOrder(column, order))}
          onKeyDown=${press}
          title=${onWidth ? t("table.head_help") : undefined}
          aria-keyshortcuts=${onWidth ? "Shift+ArrowLeft Shift+ArrowRight" : undefined}
        >
          ${column.label}
          ${sorted ? (sorted === "ascending" ? " ↑" : " ↓") : ""}
        </button>
      ` : column.label)}
      ${onWidth && !column.head && html`<span class="edge no-print" aria-hidden="true" onPointerDown=${drag}></span>`}
    </th>
  `;
}

// A short table without virtualisation, which its headers sort. With `onOrder`, the service sorts it.
export function PlainTable({ rows, columns, keyOf, caption, ...service }) {
  const [order, setOrder] = useState("");
  const onOrder = service.onOrder ?? setOrder;
  const shownOrder = service.onOrder ? service.order : order;
  return html`
    <div class="table-wrap short" tabindex="0" role="region" aria-label=${caption}>
      <table>
        <caption class="hidden">${caption}</caption>
        <thead>
          <tr>
            ${columns.map((column) => html`
              <${Th} key=${column.key} column=${column} order=${shownOrder} onOrder=${onOrder} />
            `)}
          </tr>
        </thead>
        <tbody>
          ${sortRows(rows, columns, shownOrder).map((row, at) => html`
            <tr key=${keyOf(row, at)}>
              ${columns.map((column) => html`
                <td key=${column.key} class=${`${column.num ? "num" : ""} ${column.class ?? ""}`}>
                  <${Cell} column=${column} row=${row} />
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
