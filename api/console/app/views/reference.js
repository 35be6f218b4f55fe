// Parameter reference: every operation with its limits, from the service's own description.
import { html, useEffect, useState } from "../html.js";
import { either, t } from "../i18n.js";
import { loadReference, reference } from "../limits.js";
import { Raw } from "../parts/raw.js";
import { PlainTable } from "../parts/table.js";
import { Badge, Card, Empty, ErrorNote, Head, Loading, TextField } from "../parts/ui.js";
import "../messages/operator.js";
import "../messages/page.js";

export function ReferenceView() {
  const [filter, setFilter] = useState("");
  const [error, setError] = useState(null);
  const load = () => {
    setError(null);
    loadReference().catch(setError);
  };
  useEffect(load, []);
  const document = reference.value;
  const words = filter.trim().toLocaleLowerCase();
  const operations = (document?.operations ?? []).filter(
    (operation) =>
      !words ||
      [
        operation.path,
        operation.summary,
        operation.summary_zh,
        ...operation.parameters.map((parameter) => parameter.name),
      ].some((text) => text?.toLocaleLowerCase().includes(words)),
  );
  return html`
    <${Head} title=${t("reference.title")} lead=${t("reference.lead")}>
      <a class="button little" href="/docs">${t("reference.full")}</a>
    <//>
    <${Card}>
      <${TextField}
        type="search"
        label=${t("reference.find")}
        value=${filter}
        onInput=${setFilter}
        placeholder="candidate_limit"
      />
    <//>
    <${ErrorNote} error=${error} onRetry=${load} />
    ${!document && !error && html`<${Card}><${Loading} rows=${6} /><//>`}
    <div class="stack tight">
      ${operations.map((operation) => html`
        <${Operation} key=${operation.operation_id ?? operation.id} operation=${operation} isOpen=${words !== ""} />
      `)}
    </div>
    ${document && !operations.length && html`<${Empty} title=${t("filter.none")} icon="search" />`}
    ${document && !words && html`<${Errors} errors=${document.errors} />`}
  `;
}

function Operation({ operation, isOpen }) {
  const body = operation.example?.body ?? undefined;
  return html`
    <details class="card fold" open=${isOpen}>
      <summary>
        <span class="row" style=${{ display: "inline-flex" }}>
          <${Badge} bare tone=${operation.method === "GET" ? "info" : "accent"}>${operation.method}<//>
          <b>${either(operation.summary, operation.summary_zh)}</b>
          <span class="mono tiny soft" style=${{ overflowWrap: "anywhere" }}>${operation.path}</span>
        </span>
      </summary>
      <div class="stack">
        <p style=${{ whiteSpace: "pre-line" }}>${either(operation.description, operation.description_zh)}</p>
        ${operation.parameters.length ? html`
          <${PlainTable}
            caption=${t("reference.parameters")}
            rows=${operation.parameters}
            keyOf=${(row) => `${row.in}${row.name}`}
            columns=${[
              {
                key: "name",
                label: t("reference.name"),
                value: (row) => row.name,
                render: (row) => html`
                  <code>${row.name}</code>
                  ${row.required ? html`${" "}<${Badge} tone="warn" bare>${t("reference.required")}<//>` : ""}
                `,
              },
              {
                key: "type",
                label: t("reference.type"),
                value: (row) => row.type,
                render: (row) => html`<span class="mono tiny">${row.type}</span>`,
              },
              {
                key: "default",
                label: t("reference.default"),
                class: "cell-name",
                value: defaultText,
                render: (row) =>
                  row.default_from
                    ? defaultText(row)
                    : html`<code style=${{ overflowWrap: "anywhere" }}>${defaultText(row) ?? "—"}</code>`,
              },
              {
                key: "range",
                label: t("reference.allowed"),
                value: range,
                render: (row) => html`<span class="mono tiny">${range(row)}</span>`,
              },
              {
                key: "meaning",
                label: t("reference.meaning"),
                class: "cell-title",
                value: (row) => either(row.meaning, row.meaning_zh),
              },
            ]}
          />
        ` : html`<p class="small soft">${t("reference.no_parameters")}</p>`}
        <p class="small soft">
          ${Object.entries(operation.statuses ?? {})
            .map(([status, types]) => `${status}${types.length ? ` (${types.join(", ")})` : ""}`)
            .join(" · ")}
        </p>
        ${operation.example?.url && html`
          <${Raw}
            planned=${{ method: operation.method, place: operation.example.url, body, file: operation.example.file }}
          />
        `}
      </div>
    </details>
  `;
}

function defaultText(row) {
  if (row.default_from) return t("reference.like", { name: row.default_from });
  return row.default === null || row.default === undefined ? null : JSON.stringify(row.default);
}

function range(row) {
  if (row.allowed?.length) return row.allowed.join(" | ");
  if (row.minimum !== null && row.minimum !== undefined) return `${row.minimum} – ${row.maximum ?? "…"}`;
  if (row.max_items) return t("reference.items", { low: row.min_items ?? 0, high: row.max_items });
  return row.pattern ?? row.format ?? "—";
}

function Errors({ errors }) {
  return html`
    <details class="card fold">
      <summary>${t("reference.errors")}</summary>
      <${PlainTable}
        caption=${t("reference.errors")}
        rows=${errors}
        keyOf=${(row) => row.type}
        columns=${[
          { key: "status", label: "HTTP", num: true, ascends: true, value: (row) => row.status },
          {
            key: "type",
            label: t("reference.type"),
            value: (row) => row.type,
            render: (row) => html`<code>${row.type}</code>`,
          },
          { key: "message", label: t("reference.meaning"), value: (row) => either(row.message, row.message_zh) },
          { key: "hint", label: t("error.next"), class: "cell-title", value: (row) => either(row.hint, row.hint_zh) },
        ]}
      />
    </details>
  `;
}
