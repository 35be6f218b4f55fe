// Which music id copies which, as a tree with a line for each id: also ids whose birth is unknown.
import { count, visible } from "../../format.js";
import { html } from "../../html.js";
import { t } from "../../i18n.js";
import { shortened, useWidth } from "../../parts/charts.js";
import { Kinds, Mark } from "./marks.js";
import "../../messages/result.js";

const MAX_DRAWN = 60;
const ROW = 30;
const LEFT = 14;
const NAMES = 190; // px for the names of the last generation
const NAME_LETTERS = 24;
const MOST_STEP = 56; // px from one generation to the next

// Nodes {row, x, y, older}: x counts generations and y lines; `older` is the node of what a row copies. A line of
// its own keeps each name clear of other names and of lines.
export function tree(rows) {
  const drawn = rows.slice(0, MAX_DRAWN);
  const byId = new Map(drawn.map((row) => [row.music_id, row]));
  const copies = Map.groupBy(drawn, (row) =>
    row.copy_of_music_id === row.music_id ? undefined : byId.get(row.copy_of_music_id),
  );
  const nodes = [];
  const seen = new Set(); // a circle of copies would have no end
  const place = (row, x, older) => {
    if (seen.has(row)) return;
    seen.add(row);
    const node = { row, x, y: nodes.length, older };
    nodes.push(node);
    for (const copy of copies.get(row) ?? []) place(copy, x + 1, node);
  };
  for (const row of [...(copies.get(undefined) ?? []), ...drawn]) place(row, 0, null);
  return nodes;
}

export function CopyTree({ rows }) {
  const [ref, width] = useWidth();
  const nodes = tree(rows);
  const generations = Math.max(...nodes.map((node) => node.x));
  const step = Math.min(MOST_STEP, (width - LEFT - NAMES) / Math.max(1, generations));
  const most = Math.max(1, ...rows.map((row) => row.confirmed_video_count ?? 0));
  const placed = new Map(nodes.map((node) => [node, { x: LEFT + node.x * step, y: ROW * (node.y + 0.5) }]));
  const height = ROW * nodes.length;
  const left = rows.length - nodes.length;
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
        ${left > 0 ? ` ${t("genealogy.not_drawn", { number: count(left) })}` : ""}
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
    <text x=${x + size + 6} y=${y + 4}>${shortened(visible(row.title ?? row.music_id), NAME_LETTERS)}${videos}</text>
  `;
}
