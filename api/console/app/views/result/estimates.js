// Estimates of a coverage report: what was found within the interval of what a guest could find, as a
// picture and as a table.
import { count } from "../../format.js";
import { html } from "../../html.js";
import { labelOf, t } from "../../i18n.js";
import { ticks, useWidth } from "../../parts/charts.js";
import { PlainTable } from "../../parts/table.js";
import { Term } from "../../parts/term.js";
import "../../messages/result.js";

const HEIGHT = 66;
const BAR = { top: 20, height: 14 };
const MIDDLE = BAR.top + BAR.height / 2;

// One row per estimated number, with its interval, or with the reason why there is none.
export function Estimates({ estimates }) {
  const rows = [
    ["music_id", estimates.music_ids],
    ["video", estimates.videos],
  ].map(([unit, one]) => ({ unit, ...one }));
  const assumption = estimates.videos.assumption ?? estimates.music_ids.assumption;
  return html`
    <h2>${t("coverage.estimates")} <${Term} names=${["estimate"]} /></h2>
    <div class="grid two">
      ${rows.filter((row) => row.point !== null).map((row) => html`<${Interval} key=${row.unit} row=${row} />`)}
    </div>
    <${PlainTable}
      rows=${rows}
      keyOf=${(row) => row.unit}
      caption=${t("coverage.estimates")}
      columns=${[
        {
          key: "unit",
          label: t("col.estimate_unit"),
          class: "cell-name",
          render: (row) => labelOf("estimate_unit", row.unit),
        },
        {
          key: "observed",
          label: t("col.confirmed"),
          num: true,
          render: (row) =>
            row.listed
              ? t("coverage.listed", { observed: count(row.observed), listed: count(row.listed) })
              : count(row.observed),
        },
        {
          key: "point",
          label: t("col.estimate"),
          class: "cell-words",
          render: (row) =>
            row.point === null
              ? t("coverage.not_estimated", { why: labelOf("not_estimated", row.reason) })
              : intervalText(row),
        },
        {
          key: "method",
          label: t("col.estimate_method"),
          class: "cell-words",
          render: (row) => labelOf("estimate_method", row.method),
        },
        {
          key: "sample",
          label: t("col.sample"),
          class: "cell-words",
          render: (row) => t("coverage.sample", { videos: count(row.sample_size), sources: count(row.source_count) }),
        },
      ]}
    />
    <p class="small">${t("coverage.estimates_note")}${assumption ? ` ${labelOf("assumption", assumption)}` : ""}</p>
  `;
}

const intervalText = ({ point, interval_95: [lower, upper] }) =>
  t("coverage.interval", { point: count(Math.round(point)), lower: count(lower), upper: count(upper) });

// A bar up to what was found, a line over the interval, a dot on the estimate.
function Interval({ row }) {
  const [place, width] = useWidth();
  const [lower, upper] = row.interval_95;
  const most = Math.max(upper, row.observed, 1) * 1.04;
  const x = (value) => 6 + (value / most) * (width - 12);
  const text = t("coverage.picture", {
    unit: labelOf("estimate_unit", row.unit),
    observed: count(row.observed),
    estimate: intervalText(row),
  });
  return html`
    <figure class="stack tight" ref=${place}>
      <figcaption class="small">${text}</figcaption>
      <svg class="chart" viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${text}>
        <rect x=${x(0)} y=${BAR.top} width=${x(most) - x(0)} height=${BAR.height} rx="3" fill="var(--sunk)" />
        <rect x=${x(0)} y=${BAR.top} width=${x(row.observed) - x(0)} height=${BAR.height} rx="3" fill="var(--c1)" />
        <path
          d=${`M${x(lower)} ${MIDDLE - 11}v22M${x(lower)} ${MIDDLE}H${x(upper)}M${x(upper)} ${MIDDLE - 11}v22`}
          fill="none"
          stroke="var(--ink)"
          stroke-width="1.5"
        />
        <circle cx=${x(row.point)} cy=${MIDDLE} r="4.5" fill="var(--card)" stroke="var(--ink)" stroke-width="1.5" />
        ${ticks(0, most, width > 360 ? 5 : 3).filter(Number.isInteger).map((value) => html`
          <text key=${value} x=${x(value)} y=${HEIGHT - 8} text-anchor=${value ? "middle" : "start"}>
            ${count(value)}
          </text>
        `)}
      </svg>
    </figure>
  `;
}
