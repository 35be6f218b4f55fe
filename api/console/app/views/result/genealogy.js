// Genealogy of the music ids that carry a recording: births on a time axis, and what copies what.
import { PATHS, request } from "../../api.js";
import { Foreign, count, day, visible } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { TimeAxis, shortened, useWidth } from "../../parts/charts.js";
import { PlainTable } from "../../parts/table.js";
import { Badge, Card, Empty, ErrorNote, Loading } from "../../parts/ui.js";
import { link } from "../../router.js";
import { CopyTree } from "./copies.js";
import { Kinds, Mark } from "./marks.js";
import "../../messages/result.js";

const MAX_DRAWN = 40;
const ROW = 30;
const NAMES = 150; // px for names, left of the axis
const NAME_LETTERS = 22;

export function Genealogy({ job }) {
  const [state, setState] = useState({});
  const id = job.result.music_id;
  useEffect(() => {
    const stopping = new AbortController();
    const body = { query: "genealogy", parameters: { music_id: id } };
    request(PATHS.sql, { method: "POST", body, signal: stopping.signal }).then(
      (envelope) => setState({ rows: toRows(envelope.data) }),
      (error) => {
        if (error.name !== "AbortError") setState({ error });
      },
    );
    return () => stopping.abort();
  }, [id]);
  if (state.error) return html`<${ErrorNote} error=${state.error} />`;
  if (!state.rows) return html`<${Loading} tall />`;
  if (!state.rows.length) return html`<${Empty} title=${t("genealogy.empty")}>${t("genealogy.empty_hint")}<//>`;
  return html`
    <p class="small soft">
      ${t("genealogy.note")} <a href=${link(["sql", "genealogy"], { "p.music_id": id })}>${t("genealogy.query")}</a>
    </p>
    <${Card} title=${t("genealogy.title")}><${Timeline} rows=${state.rows} /><//>
    <${Card} title=${t("genealogy.tree")}><${CopyTree} rows=${state.rows} /><//>
    <${PlainTable}
      rows=${state.rows}
      keyOf=${(row) => row.music_id}
      caption=${t("tab.genealogy")}
      columns=${COLUMNS()}
    />
  `;
}

export function toRows({ columns, rows }) {
  return rows.map((cells) => Object.fromEntries(columns.map((column, at) => [column.name, cells[at]])));
}

// Places of the rows whose birth is known: {found: [{row, x, y, older}], from, to, x}, `older` the place of
// what it copies, `x` that of a time between `from` and `to`.
export function places(rows, width) {
  const known = rows.filter((row) => row.created_at !== null).slice(0, MAX_DRAWN);
  const times = known.map((row) => Date.parse(row.created_at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const span = to - from || 1;
  const x = (time) => NAMES + 14 + ((time - from) / span) * (width - NAMES - 34);
  const found = known.map((row, at) => ({ row, x: x(times[at]), y: 18 + at * ROW }));
  const byId = new Map(found.map((place) => [place.row.music_id, place]));
  return {
    found: found.map((place) => ({ ...place, older: byId.get(place.row.copy_of_music_id) ?? null })),
    from,
    to,
    x,
  };
}

function Timeline({ rows }) {
  const [ref, width] = useWidth();
  const { found, from, to, x: xOf } = places(rows, width);
  const unknown = rows.length - found.length;
  const height = found.length * ROW + 40;
  return html`
    <figure class="stack tight" ref=${ref}>
      ${found.length > 0 && html`
        <svg class="chart genealogy" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${t("genealogy.label")}>
          ${found.map(({
            row,
            y,
          }) => html`
            <text key=${row.music_id} x="0" y=${y + 4}>
              ${shortened(visible(row.title ?? row.music_id), NAME_LETTERS)}
            </text>
          `)}
          ${found.filter((place) => place.older).map(({
            row,
            x,
            y,
            older,
          }) => html`
            <path
              key=${row.music_id}
              d=${`M${older.x} ${older.y}V${y}H${x}`}
              fill="none"
              stroke="var(--edge)"
              stroke-width="1.5"
              stroke-dasharray=${row.copy_evidence === "name" ? "4 4" : undefined}
            />
          `)}
          ${found.map((place) => html`<${Mark} key=${place.row.music_id} ...${place} />`)}
          ${to > from && html`
            <${TimeAxis} from=${from} to=${to} x=${xOf} y=${height - 24} width=${width} left=${NAMES + 14} />
          `}
        </svg>
      `}
      <figcaption class="small soft">
        <${Kinds} rows=${found.map((place) => place.row)} />
        · ${t("genealogy.help")}
        ${unknown > 0 ? ` ${t("genealogy.not_drawn", { number: count(unknown) })}` : ""}
      </figcaption>
    </figure>
  `;
}

const COLUMNS = () => [
  {
    key: "id",
    label: t("genealogy.music_id"),
    class: "cell-title",
    render: (row) => html`<${Foreign} text=${row.title} /><div class="tiny soft mono">${row.music_id}</div>`,
  },
  {
    key: "kind",
    label: t("col.kind"),
    render: (row) => (row.kind ? html`<${Badge}>${t(`genealogy.${row.kind}`)}<//>` : "—"),
  },
  {
    key: "born",
    label: t("genealogy.born"),
    class: "nowrap",
    render: (row) => html`
      ${day(row.created_at)}
      ${row.created_at_check === "contradicted"
        ? html`<div class="tiny soft">${t("genealogy.contradicted")}</div>`
        : ""}
    `,
  },
  { key: "evidence", label: t("genealogy.evidence"), render: (row) => t(`genealogy.by_${row.evidence}`) },
  {
    key: "copy",
    label: t("genealogy.copies"),
    render: (row) =>
      row.copy_of_music_id ? html`
        <span class="tiny mono">${row.copy_of_music_id}</span>
        <div class="tiny soft">${t(`genealogy.copy_${row.copy_evidence}`)}</div>
      ` : "—",
  },
  {
    key: "owner",
    label: t("genealogy.uploader"),
    class: "cell-name",
    render: (row) => html`<${Foreign} text=${row.owner_nickname} />`,
  },
  {
    key: "first",
    label: t("genealogy.first"),
    class: "nowrap",
    render: (row) => html`${day(row.first_published_at)}<div class="tiny soft mono">${row.first_aweme_id ?? ""}</div>`,
  },
  { key: "videos", label: t("fig.confirmed"), num: true, render: (row) => count(row.confirmed_video_count) },
];
