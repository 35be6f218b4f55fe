// Coverage report: what was read, why reading stopped, and how much may be missing.
import { dagsterPage, PATHS } from "../../api.js";
import { count, decimal, moment } from "../../format.js";
import { html } from "../../html.js";
import { labelOf, listed, named, t, termLabels, termNames } from "../../i18n.js";
import { link } from "../../router.js";
import { ticks, useWidth } from "../../parts/charts.js";
import { ExportMenu } from "../../parts/export.js";
import { PlainTable } from "../../parts/table.js";
import { Term } from "../../parts/term.js";
import { Badge, Card } from "../../parts/ui.js";
import "../../messages/chart.js";
import "../../messages/operator.js";
import "../../messages/page.js";
import "../../messages/result.js";
import "../../messages/scan.js";

const TONES = { end: "good", problem: "bad" };
const stopKind = (reason) => termLabels.value.stop?.[reason]?.kind ?? "problem"; // names of errors have no entry

function leftOut(row) {
  const reasons = termNames("left_out").filter((reason) => row[`left_${reason}`] > 0);
  return (
    listed(
      reasons.map((reason) =>
        t("coverage.left", { number: count(row[`left_${reason}`]), why: labelOf("left_out", reason) }),
      ),
    ) || "—"
  );
}

// The upper limit of the random audit, and the drawn videos that turned out to carry the recording.
function Audit({ audit }) {
  const confirmed = audit.videos.filter((video) => video.verdict === "confirmed");
  return html`
    <h2>${t("coverage.audit")}</h2>
    <p>
      ${
        audit.reason
          ? t("coverage.audit_none", { pool: count(audit.pool), why: labelOf("not_audited", audit.reason) })
          : t("coverage.audit_sentence", {
              pool: count(audit.pool),
              share: decimal(100 * audit.upper_bound_share, 1),
              most: count(audit.upper_bound_count),
              confidence: decimal(100 * audit.confidence, 0),
              drawn: count(audit.drawn),
              compared: count(audit.compared),
              found: count(audit.found),
            })
      }
    </p>
    ${confirmed.length > 0 && html`
      <${PlainTable}
        rows=${confirmed}
        keyOf=${(row) => row.aweme_id}
        caption=${t("coverage.audit")}
        columns=${[
          {
            key: "aweme_id",
            label: t("col.video"),
            class: "mono",
            value: (row) => row.aweme_id,
            render: (row) => html`<a href=${link(["time", "video", row.aweme_id])}>${row.aweme_id}</a>`,
          },
          {
            key: "music_id",
            label: t("song.music_id"),
            class: "mono",
            value: (row) => row.music_id,
            render: (row) => html`<a href=${link(["track", row.music_id])}>${row.music_id}</a>`,
          },
          {
            key: "verdict",
            label: t("col.verdict"),
            class: "cell-words",
            value: (row) => labelOf("audit_verdict", row.verdict),
          },
        ]}
      />
      <p class="small">${t("coverage.audit_note")}</p>
    `}
  `;
}

function parameterText(name, value) {
  if (name === "sort_by") return labelOf("sort", value);
  if (typeof value === "boolean") return t(value ? "act.yes" : "act.no");
  return Array.isArray(value) ? value.join(", ") || "—" : typeof value === "number" ? count(value) : (value ?? "—");
}

// How many of the confirmed videos were compared themselves, as the ranking and the comparisons say it.
function AudioChecks({ counts }) {
  const parts = termNames("audio_check")
    .filter((kind) => counts[kind])
    .map((kind) => `${labelOf("audio_check", kind)} (${count(counts[kind])})`);
  return parts.length > 0 && html`<p class="small">${named(t("coverage.checks"), listed(parts))}</p>`;
}

export function Coverage({ job }) {
  const { coverage, discovery } = job.result;
  const history = discovery?.confirmed_graph_observation_history;
  const stops = [...new Set(coverage.sources.map((source) => source.stop_reason))].filter(
    (reason) => stopKind(reason) !== "end",
  );
  return html`
    <div class="note info">
      <h2>${t("coverage.sentence", { seen: count(job.result.confirmed_count) })} <${Term} names=${["coverage"]} /></h2>
      <p>
        ${
          stops.length
            ? t("coverage.stopped", { why: listed(stops.map((reason) => labelOf("stop", reason))) })
            : t("coverage.ended")
        }
      </p>
      <${AudioChecks} counts=${job.result.audio_check_counts} />
      <p class="small">${t("result.never_all")}</p>
    </div>
    ${coverage.estimates && html`<${Estimates} estimates=${coverage.estimates} />`}
    ${coverage.audit && html`<${Audit} audit=${coverage.audit} />`}
    <div class="row apart">
      <h2>${t("coverage.sources")}</h2>
      <${ExportMenu} source=${`${PATHS.jobs}/${job.job_id}`} table="coverage" />
    </div>
    <${SourcesTable} sources=${coverage.sources} />
    ${(coverage.list_genuine_share ?? []).map((list) => html`
      <p class="small" key=${list.music_id}>
        <a class="mono" href=${link(["track", list.music_id])}>♪ ${list.music_id}</a>${" "}
        ${t("coverage.genuine", {
          own: count(list.own_rows),
          rows: count(list.rows),
          heard: count(list.audio_rows),
        })}${" "}
        <a href=${link(["sql", "list-shares"], { "p.music_id": list.music_id })}>${t("coverage.genuine_days")}</a>
      </p>
    `)}
    ${coverage.decisions?.length > 0 && html`<${Decisions} decisions=${coverage.decisions} />`}
    <p class="small">
      ${
        coverage.not_reached.length
          ? t("coverage.not_reached", { number: count(coverage.not_reached.length) })
          : t("coverage.all_reached")
      }
    </p>
    ${history && html`<${ScanHistory} history=${history} rounds=${discovery.rounds ?? []} />`}
    <${Method} job=${job} />
  `;
}

// Requests, pages and items by source, and why each source ended.
function SourcesTable({ sources }) {
  return html`
    <${PlainTable}
      rows=${sources}
      keyOf=${(row, at) => `${row.surface}${at}`}
      caption=${t("coverage.sources")}
      columns=${[
        {
          key: "surface",
          label: t("col.source"),
          class: "cell-name",
          value: (row) => labelOf("surface", row.surface),
        },
        { key: "requests", label: t("fig.requests"), num: true, value: (row) => row.requests },
        { key: "pages", label: t("col.pages"), num: true, value: (row) => row.pages },
        { key: "items", label: t("col.items"), num: true, value: (row) => row.items },
        { key: "new", label: t("col.new"), num: true, value: (row) => row.new_items },
        ...(sources.some((row) => row.foreign_rows)
          ? [{ key: "foreign", label: t("col.foreign"), num: true, value: (row) => row.foreign_rows }]
          : []),
        {
          key: "stop",
          label: t("col.stop"),
          class: "cell-words",
          value: (row) => labelOf("stop", row.stop_reason),
          render: (row) => html`
            <span class="row">
              <${Badge} tone=${TONES[stopKind(row.stop_reason)] ?? "warn"}>
                ${t(stopKind(row.stop_reason) === "end" ? "coverage.end" : "coverage.limit")}
              <//>
              <span>${labelOf("stop", row.stop_reason)}</span>
            </span>
          `,
        },
      ]}
    />
  `;
}

// Sources that the planner left out, by question.
function Decisions({ decisions }) {
  return html`
    <h2>${t("coverage.decisions")}</h2>
    <${PlainTable}
      rows=${decisions}
      keyOf=${(row) => `${row.question} ${row.surface}`}
      caption=${t("coverage.decisions")}
      columns=${[
        {
          key: "question",
          label: t("col.question"),
          class: "cell-name",
          value: (row) => labelOf("question", row.question),
        },
        {
          key: "surface",
          label: t("col.source"),
          class: "cell-name",
          value: (row) => labelOf("surface", row.surface),
        },
        {
          key: "answered",
          label: t("col.answered"),
          num: true,
          value: (row) => row.answered,
          render: (row) => t("coverage.answered", { answered: count(row.answered), tried: count(row.tried) }),
        },
        { key: "left", label: t("col.left_out"), class: "cell-words", value: leftOut },
      ]}
    />
  `;
}

// The scan compared with earlier scans of the track.
function ScanHistory({ history, rounds }) {
  return html`
    <${Card} title=${t("coverage.history")}>
      <p>
        ${t("coverage.history_sentence", {
          runs: count(history.run_count),
          all: count(history.cumulative_confirmed_count),
          fresh: count(history.new_confirmed_count),
          first: moment(history.first_run_at),
        })}
      </p>
      ${rounds.length > 0 && html`
        <ul class="list small">
          ${rounds.map((round) => html`
            <li key=${round.round}>
              ${t("coverage.round", {
                at: round.round,
                number: count(round.new_confirmed_count),
                ids: count(round.music_ids.length),
              })}
            </li>
          `)}
        </ul>
      `}
    <//>
  `;
}

// Versions and parameters of the scan.
function Method({ job }) {
  return html`
    <${Card} title=${t("coverage.method")}>
      ${dagsterPage() && html`
        <p class="small">
          <a href=${dagsterPage(`runs/${job.job_id}`)} target="_blank" rel="noopener noreferrer">
            ${t("operator.run")}
          </a>
        </p>
      `}
      <dl class="pairs">
        <dt>${t("coverage.algorithm")}</dt>
        <dd class="mono">${job.result.algorithm}</dd>
        <dt>${t("coverage.provider")}</dt>
        <dd class="mono">${job.result.data_provider}</dd>
        <dt>${t("coverage.made")}</dt>
        <dd>${moment(job.result.created_at)}</dd>
        ${Object.entries(job.parameters).map(([name, value]) => html`
          <dt key=${name} title=${name}>${t(`param.${name}`)}</dt>
          <dd>${parameterText(name, value)}</dd>
        `)}
      </dl>
    <//>
  `;
}

const INTERVAL_HEIGHT = 66;
const BAR = { top: 20, height: 14 };
const MIDDLE = BAR.top + BAR.height / 2;

// One row per estimated number, with its interval or the reason why it was not estimated.
function Estimates({ estimates }) {
  const rows = [
    ["music_id", estimates.music_ids],
    ["video", estimates.videos],
  ].map(([unit, estimate]) => ({ unit, ...estimate }));
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
          value: (row) => labelOf("estimate_unit", row.unit),
        },
        {
          key: "observed",
          label: t("col.confirmed"),
          num: true,
          value: (row) => row.observed,
          render: (row) =>
            row.listed
              ? t("coverage.listed", { observed: count(row.observed), listed: count(row.listed) })
              : count(row.observed),
        },
        {
          key: "point",
          label: t("col.estimate"),
          class: "cell-words",
          value: (row) => row.point,
          render: (row) =>
            row.point === null
              ? t("coverage.not_estimated", { why: labelOf("not_estimated", row.reason) })
              : intervalText(row),
        },
        {
          key: "method",
          label: t("col.estimate_method"),
          class: "cell-words",
          value: (row) => labelOf("estimate_method", row.method),
        },
        {
          key: "sample",
          label: t("col.sample"),
          class: "cell-words",
          value: (row) => row.sample_size,
          render: (row) => t("coverage.sample", { videos: count(row.sample_size), sources: count(row.source_count) }),
        },
      ]}
    />
    <p class="small">${t("coverage.estimates_note")}${assumption ? ` ${labelOf("assumption", assumption)}` : ""}</p>
  `;
}

const intervalText = ({ point, interval_95: [lower, upper] }) =>
  t("coverage.interval", { point: count(Math.round(point)), lower: count(lower), upper: count(upper) });

// A bar for the observed number, a line for the interval, a dot for the estimate.
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
      <svg class="chart" viewBox=${`0 0 ${width} ${INTERVAL_HEIGHT}`} role="img" aria-label=${text}>
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
          <text key=${value} x=${x(value)} y=${INTERVAL_HEIGHT - 8} text-anchor=${value ? "middle" : "start"}>
            ${count(value)}
          </text>
        `)}
      </svg>
    </figure>
  `;
}
