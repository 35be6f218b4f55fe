// Marks of music ids by their kind: a shape besides the colour, for prints in grey.
import { day, visible } from "../../format.js";
import { html } from "../../html.js";
import { t } from "../../i18n.js";
import { COLORS } from "../../parts/charts.js";
import "../../messages/result.js";

const KINDS = ["own_id", "original_sound", "library"];

export function Mark({ row, x, y, size = 5 }) {
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
export function Kinds({ rows }) {
  const shown = KINDS.filter((kind) => rows.some((row) => row.kind === kind));
  return shown.map((kind) => html`
    <span key=${kind}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        <${Mark} row=${{ kind }} x=${7} y=${7} />
      </svg>${" "}
      ${t(`genealogy.${kind}`)}${" "}
    </span>
  `);
}
