// Operations page: system health, storage, request budgets and jobs.
import { dagsterPage, PATHS } from "../api.js";
import { bytes, count, moment } from "../format.js";
import { html, useState } from "../html.js";
import { labelOf, t } from "../i18n.js";
import { useAddress } from "../router.js";
import { useDocument, useParameter } from "../parts/reads.js";
import { JobList, useJobs } from "../parts/recent.js";
import { PlainTable } from "../parts/table.js";
import { Badge, Card, CheckField, Empty, ErrorNote, Figures, Head, Loading, Prose, SelectField } from "../parts/ui.js";
import "../messages/operator.js";
import "../messages/page.js";
import "../messages/result.js";
import "../messages/scan.js";

const MOST_JOBS = 100; // of the list at the end of the page

export function OperatorView({ query }) {
  return html`
    <${Head} title=${t("operator.title")} lead=${t("operator.lead")} />
    <${Doctor} />
    <${Storage} />
    <${Jobs} query=${query} />
    <${Settings} />
  `;
}

const isOk = ({ outcome }) => outcome === "ok" || outcome === "works";
const outcomeText = (row) => (isOk(row) ? t("operator.check_ok") : labelOf("stop", row.outcome));

function Doctor() {
  const { data, error } = useDocument(PATHS.doctor);
  return html`
    <${Card}
      title=${t("operator.health")}
      aside=${data && html`
        <${Badge} tone=${data.ready ? "good" : "bad"}>${t(data.ready ? "operator.ready" : "operator.not_ready")}<//>
      `}
    >
      <${ErrorNote} error=${error} />
      ${!data && !error && html`<${Loading} rows=${8} />`}
      ${data && html`
        <ul class="list">
          ${data.checks.map((check) => html`
            <li key=${check.name} class="row apart">
              <span>${t(`check.${check.name}`)}</span>
              <span class="row small">
                ${check.reason && html`
                  <span class="soft" title=${check.reason}><${Prose} text=${t(`operator.fix_${check.name}`)} /></span>
                `}
                <${Badge} tone=${check.reason ? "bad" : "good"}>
                  ${t(check.reason ? "operator.check_failed" : "operator.check_ok")}
                <//>
              </span>
            </li>
          `)}
        </ul>
        <h3>${t("operator.surfaces")}</h3>
        ${data.surfaces.length ? html`
          <${PlainTable}
            rows=${data.surfaces}
            keyOf=${(row) => row.surface}
            caption=${t("operator.surfaces")}
            columns=${[
              { key: "surface", label: t("col.source"), value: (row) => labelOf("surface", row.surface) },
              {
                key: "outcome",
                label: t("operator.outcome"),
                value: outcomeText,
                render: (row) => html`<${Badge} tone=${isOk(row) ? "good" : "warn"}>${outcomeText(row)}<//>`,
              },
              {
                key: "error",
                label: t("col.reason"),
                value: (row) => row.error_type && labelOf("stop", row.error_type),
              },
              {
                key: "at",
                label: t("col.observed"),
                value: (row) => row.observed_at,
                render: (row) => moment(row.observed_at),
              },
            ]}
          />
        ` : html`<p class="small soft"><${Prose} text=${t("operator.never_probed")} /></p>`}
        ${data.circuits.length > 0 && html`
          <h3>${t("operator.circuits")}</h3>
          <ul class="list small">
            ${data.circuits.map((circuit) => html`
              <li key=${`${circuit.host}${circuit.surface}`}>
                ${labelOf("surface", circuit.surface)} <span class="soft mono">${circuit.host}</span>
                : ${labelOf("stop", circuit.cause)} · ${t("operator.failures", { number: count(circuit.failures) })}
                ${circuit.open_until ? ` · ${t("operator.until", { time: moment(circuit.open_until) })}` : ""}
              </li>
            `)}
          </ul>
        `}
      `}
    <//>
  `;
}

function Storage() {
  const { data, error } = useDocument(PATHS.storage);
  return html`
    <${Card}
      title=${t("operator.storage")}
      aside=${dagsterPage() && html`
        <a class="small" href=${dagsterPage()} target="_blank" rel="noopener noreferrer">
          ${t("operator.orchestrator")}
        </a>
      `}
    >
      <${ErrorNote} error=${error} />
      ${!data && !error && html`<${Loading} tall />`}
      ${data && html`
        <${Figures}
          items=${[
            [t("operator.kept"), bytes(data.total_bytes)],
            [t("operator.free"), bytes(data.free_bytes)],
            [t("operator.used_today"), count(data.budget.used), t("fig.of", { total: count(data.budget.limit) })],
          ]}
        />
        <${PlainTable}
          rows=${data.parts}
          keyOf=${(row) => row.name}
          caption=${t("operator.storage")}
          columns=${[
            { key: "name", label: t("operator.part"), value: (row) => t(`part.${row.name}`) },
            {
              key: "bytes",
              label: t("operator.size"),
              num: true,
              value: (row) => row.bytes,
              render: (row) => bytes(row.bytes),
            },
            { key: "files", label: t("operator.files"), num: true, value: (row) => row.files },
          ]}
        />
        ${data.budget.hosts.length > 0 && html`
          <h3>${t("operator.budget")}</h3>
          <${PlainTable}
            rows=${data.budget.hosts}
            keyOf=${(row) => row.host}
            caption=${t("operator.budget")}
            columns=${[
              { key: "host", label: t("operator.host"), class: "mono", value: (row) => row.host },
              { key: "used", label: t("operator.used_today"), num: true, value: (row) => row.used },
              { key: "left", label: t("operator.left"), num: true, value: (row) => row.left },
            ]}
          />
        `}
      `}
    <//>
  `;
}

function Jobs({ query }) {
  const [status, setStatus] = useAddress(["operator"], query, "status");
  const statuses = useParameter(PATHS.jobList, "status")?.allowed ?? [status].filter(Boolean);
  const { jobs, tracks, error } = useJobs(MOST_JOBS, status);
  return html`
    <${Card} title=${t("operator.jobs")}>
      <${SelectField}
        label=${t("operator.status")}
        value=${status}
        onChange=${setStatus}
        options=${[["", t("act.all")], ...statuses.map((name) => [name, t(`status.${name}`)])]}
      />
      <${ErrorNote} error=${error} />
      ${!jobs && !error && html`<${Loading} />`}
      ${
        jobs &&
        (jobs.length
          ? html`<${JobList} jobs=${jobs} tracks=${tracks} />`
          : html`<${Empty} title=${t("recent.empty")} icon="list">${t("recent.empty_hint")}<//>`)
      }
    <//>
  `;
}

// Effective settings and their sources; only operators may read them.
function Settings() {
  const { data, error } = useDocument(PATHS.settings);
  const [isWhole, setWhole] = useState(false);
  if (error?.status === 403) return null;
  const rows = data?.settings.filter((setting) => isWhole || setting.source !== "default") ?? [];
  return html`
    <${Card} title=${t("operator.settings")}>
      <p class="small soft">${t("operator.settings_note")}</p>
      <${ErrorNote} error=${error} />
      ${!data && !error && html`<${Loading} />`}
      ${data && html`
        <${CheckField}
          label=${t("operator.settings_all", { number: count(data.returned_count) })}
          value=${isWhole}
          onChange=${setWhole}
        />
        ${rows.length ? html`
          <${PlainTable}
            rows=${rows}
            keyOf=${(row) => row.name}
            caption=${t("operator.settings")}
            columns=${[
              {
                key: "name",
                label: t("operator.setting"),
                value: (row) => row.name,
                render: (row) => html`
                  <code>${row.name}</code>
                  <div class="tiny soft" lang="en"><${Prose} text=${row.description} /></div>
                `,
              },
              {
                key: "value",
                label: t("operator.value"),
                value: (row) => row.value,
                render: (row) => html`
                  <span class="mono" style=${{ overflowWrap: "anywhere" }}>${row.value || "—"}</span>
                `,
              },
              { key: "source", label: t("operator.from"), value: (row) => t(`operator.from_${row.source}`) },
            ]}
          />
        ` : html`<p class="soft">${t("operator.settings_default")}</p>`}
      `}
    <//>
  `;
}
