// Genealogy of the music ids that carry a recording: births on a time axis, and what copies what.
import { unlessAborted } from "../../api.js";
import { count, day, Foreign, safeLink, visible } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { link } from "../../router.js";
import { COLORS, shortened, TimeAxis, useWidth } from "../../parts/charts.js";
import { readRows } from "../../parts/reads.js";
import { PlainTable } from "../../parts/table.js";
import { Badge, Card, Empty, ErrorNote, Loading } from "../../parts/ui.js";
import "../../messages/result.js";

const MAX_BIRTHS = 40;
const ROW = 30;
const NAMES_PX = 150; // px for names, left of the axis
const BIRTH_LETTERS = 22;

export function Genealogy({ job }) {
  const [state, setState] = useState({});
  const id = job.result.music_id;
  useEffect(() => {
    const stopping = new AbortController();
    readRows("genealogy", { parameters: { music_id: id }, signal: stopping.signal }).then(
      (rows) => setState({ rows }),
      unlessAborted((error) => setState({ error })),
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

// Places of the rows whose birth is known: {births: [{row, x, y, older}], from, to, x}, `older` the place of
// what it copies, `x(time)` the place of a time between `from` and `to`.
function places(rows, width) {
  const dated = rows.filter((row) => row.created_at !== null).slice(0, MAX_BIRTHS);
  const times = dated.map((row) => Date.parse(row.created_at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const span = to - from || 1;
  const x = (time) => NAMES_PX + 14 + ((time - from) / span) * (width - NAMES_PX - 34);
  const births = dated.map((row, at) => ({ row, x: x(times[at]), y: 18 + at * ROW }));
  const byId = new Map(births.map((place) => [place.row.music_id, place]));
  return {
    births: births.map((place) => ({ ...place, older: byId.get(place.row.copy_of_music_id) ?? null })),
    from,
    to,
    x,
  };
}

function Timeline({ rows }) {
  const [ref, width] = useWidth();
  const { births, from, to, x: xOf } = places(rows, width);
  const unknown = rows.length - births.length;
  const height = births.length * ROW + 40;
  return html`
    <figure class="stack tight" ref=${ref}>
      ${births.length > 0 && html`
        <svg class="chart genealogy" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${t("genealogy.label")}>
          ${births.map(({
            row,
            y,
          }) => html`
            <text key=${row.music_id} x="0" y=${y + 4}>
              ${shortened(visible(row.title ?? row.music_id), BIRTH_LETTERS)}
            </text>
          `)}
          ${births.filter((place) => place.older).map(({
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
          ${births.map((place) => html`<${Mark} key=${place.row.music_id} ...${place} />`)}
          ${to > from && html`
            <${TimeAxis} from=${from} to=${to} x=${xOf} y=${height - 24} width=${width} left=${NAMES_PX + 14} />
          `}
        </svg>
      `}
      <figcaption class="small soft">
        <${Kinds} rows=${births.map((place) => place.row)} />
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
    value: (row) => row.title,
    render: (row) => html`
      <a href=${link(["track", row.music_id])}><${Foreign} text=${row.title} none=${row.music_id} /></a>
      <div class="tiny soft mono">${row.music_id}</div>
    `,
  },
  {
    key: "kind",
    label: t("col.kind"),
    value: (row) => row.kind && t(`genealogy.${row.kind}`),
    render: (row) => (row.kind ? html`<${Badge}>${t(`genealogy.${row.kind}`)}<//>` : "—"),
  },
  {
    key: "born",
    label: t("genealogy.born"),
    class: "nowrap",
    value: (row) => row.created_at,
    render: (row) => html`
      ${day(row.created_at)}
      ${row.created_at_check === "contradicted"
        ? html`<div class="tiny soft">${t("genealogy.contradicted")}</div>`
        : ""}
    `,
  },
  { key: "evidence", label: t("genealogy.evidence"), value: (row) => t(`genealogy.by_${row.evidence}`) },
  {
    key: "copy",
    label: t("genealogy.copies"),
    value: (row) => row.copy_of_music_id,
    render: (row) =>
      row.copy_of_music_id ? html`
        <a class="tiny mono" href=${link(["track", row.copy_of_music_id])}>${row.copy_of_music_id}</a>
        <div class="tiny soft">${t(`genealogy.copy_${row.copy_evidence}`)}</div>
      ` : "—",
  },
  {
    key: "owner",
    label: t("genealogy.uploader"),
    class: "cell-name",
    value: (row) => row.owner_nickname,
    render: (row) => {
      const name = html`<${Foreign} text=${row.owner_nickname} />`;
      return row.owner_sec_uid ? html`<a href=${link(["profile"], { id: row.owner_sec_uid })}>${name}</a>` : name;
    },
  },
  {
    key: "first",
    label: t("genealogy.first"),
    class: "nowrap",
    value: (row) => row.first_published_at,
    render: (row) => {
      const address = safeLink(row.first_share_url);
      const name = day(row.first_published_at);
      return html`
        ${address ? html`<a href=${address} target="_blank" rel="noopener noreferrer">${name}</a>` : name}
        <div class="tiny soft mono">${row.first_aweme_id ?? ""}</div>
      `;
    },
  },
  { key: "videos", label: t("fig.confirmed"), num: true, value: (row) => row.confirmed_video_count },
];

const MAX_COPIES = 60;
const LEFT = 14;
const LAST_NAMES_PX = 190; // px for the names of the last generation
const COPY_LETTERS = 24;
const MOST_STEP = 56; // px from one generation to the next

// Nodes {row, x, y, older}: x counts generations and y lines; `older` is the node of what a row copies. A line of
// its own keeps each name clear of other names and of lines.
function tree(rows) {
  const drawn = rows.slice(0, MAX_COPIES);
  const byId = new Map(drawn.map((row) => [row.music_id, row]));
  const copies = Map.groupBy(drawn, (row) =>
    row.copy_of_music_id === row.music_id ? undefined : byId.get(row.copy_of_music_id),
  );
  const nodes = [];
  const placedRows = new Set(); // a circle of copies would have no end
  const place = (row, x, older) => {
    if (placedRows.has(row)) return;
    placedRows.add(row);
    const node = { row, x, y: nodes.length, older };
    nodes.push(node);
    for (const copy of copies.get(row) ?? []) place(copy, x + 1, node);
  };
  for (const row of [...(copies.get(undefined) ?? []), ...drawn]) place(row, 0, null);
  return nodes;
}

function CopyTree({ rows }) {
  const [ref, width] = useWidth();
  const nodes = tree(rows);
  const generations = Math.max(...nodes.map((node) => node.x));
  const step = Math.min(MOST_STEP, (width - LEFT - LAST_NAMES_PX) / Math.max(1, generations));
  const most = Math.max(1, ...rows.map((row) => row.confirmed_video_count ?? 0));
  const placed = new Map(nodes.map((node) => [node, { x: LEFT + node.x * step, y: ROW * (node.y + 0.5) }]));
  const height = ROW * nodes.length;
  const undrawn = rows.length - nodes.length;
  return html`
    <figure class="stack tight" ref=${ref}>
      <svg class="chart copies" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${t("genealogy.tree_label")}>
        ${nodes.filter((node) => node.older).map((node) => html`
          <path
            key=${node.row.music_id}
            d=${corner(placed.get(node.older), placed.get(node))}
            fill="none"
            stroke="var(--edge)"
            stroke-width="1.5"
            stroke-dasharray=${node.row.copy_evidence === "name" ? "4 4" : undefined}
          />
        `)}
        ${nodes.map((node) => html`
          <${Node}
            key=${node.row.music_id}
            row=${node.row}
            ...${placed.get(node)}
            share=${(node.row.confirmed_video_count ?? 0) / most}
          />
        `)}
      </svg>
      <figcaption class="small soft">
        <${Kinds} rows=${rows} />
        · ${t("genealogy.tree_help")}
        ${undrawn > 0 ? ` ${t("genealogy.not_drawn", { number: count(undrawn) })}` : ""}
      </figcaption>
    </figure>
  `;
}

const corner = (from, to) => `M${from.x} ${from.y}V${to.y}H${to.x}`;

function Node({ row, x, y, share }) {
  const size = 4 + 7 * Math.sqrt(share);
  const videos =
    row.confirmed_video_count === null || row.confirmed_video_count === undefined
      ? ""
      : ` · ${count(row.confirmed_video_count)}`;
  return html`
    <${Mark} row=${row} x=${x} y=${y} size=${size} />
    <text x=${x + size + 6} y=${y + 4}>${shortened(visible(row.title ?? row.music_id), COPY_LETTERS)}${videos}</text>
  `;
}

const KINDS = ["own_id", "original_sound", "library"];

function Mark({ row, x, y, size = 5 }) {
  const color = COLORS[Math.max(0, KINDS.indexOf(row.kind))];
  const name = row.music_id && html`<title>${`${visible(row.title ?? row.music_id)} · ${day(row.created_at)}`}</title>`;
  if (row.kind === "own_id") return html`<circle cx=${x} cy=${y} r=${size + 1} fill=${color}>${name}</circle>`;
  const turn = row.kind === "library" ? `rotate(45 ${x} ${y})` : undefined;
  return html`
    <rect
      x=${x - size}
      y=${y - size}
      width=${2 * size}
      height=${2 * size}
      transform=${turn}
      fill=${row.kind ? color : "var(--card)"}
      stroke=${color}
    >
      ${name}
    </rect>
  `;
}

// The kinds that the rows have, with their marks.
function Kinds({ rows }) {
  const kinds = KINDS.filter((kind) => rows.some((row) => row.kind === kind));
  return kinds.map((kind) => html`
    <span key=${kind}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        <${Mark} row=${{ kind }} x=${7} y=${7} />
      </svg>${" "}
      ${t(`genealogy.${kind}`)}${" "}
    </span>
  `);
}
