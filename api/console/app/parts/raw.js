// Preview of a request as curl, Python or JSON, and of its response.
import { html, useState } from "../html.js";
import { t } from "../i18n.js";
import { lastExchange, session } from "../state.js";
import { Copy, Segment } from "./ui.js";
import "../messages/page.js";

const SHOWN_CHARS = 60_000;
const isGuarded = () => session.value.required;

function quoteShell(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
function literal(text) {
  // JSON and Python share these escapes
  return JSON.stringify(text);
}

// `file`: file name for a binary response.
export function toCurl({ method, place, body, file }) {
  const parts = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoteShell(location.origin + place)}`];
  if (isGuarded()) parts.push(`-H "Authorization: Bearer $OWN_API_TOKEN"`);
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${quoteShell(JSON.stringify(body))}`);
  if (file) parts.push(`-o ${quoteShell(file)}`);
  return parts.join(" \\\n  ");
}
export function toPython({ method, place, body, file }) {
  const headers = {
    ...(isGuarded() ? { Authorization: "Bearer TOKEN" } : {}),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  const lines = [
    "import json, os, urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${literal(location.origin + place)},`,
    `    method=${literal(method)},`,
  ];
  const headerLines = Object.entries(headers).map(
    ([name, value]) =>
      `${literal(name)}: ${name === "Authorization" ? `"Bearer " + os.environ["OWN_API_TOKEN"]` : literal(value)}`,
  );
  if (headerLines.length) lines.push(`    headers={${headerLines.join(", ")}},`);
  if (body !== undefined) lines.push(`    data=json.dumps(json.loads(${literal(JSON.stringify(body))})).encode(),`);
  lines.push(
    ")",
    "with urllib.request.urlopen(request) as answer:",
    file ? `    open(${literal(file)}, "wb").write(answer.read())` : `    print(json.load(answer)["data"])`,
  );
  return lines.join("\n");
}
function toJson({ method, place, body }) {
  return JSON.stringify({ method, path: place, body: body ?? null }, null, 2);
}

// Shows the last request of this view, or `planned`, a request that is not sent yet.
export function Raw({ planned }) {
  const [form, setForm] = useState("curl");
  const exchange = planned ?? lastExchange.value;
  if (!exchange) return null;
  const text = { curl: toCurl, python: toPython, json: toJson }[form](exchange);
  const responseText = exchange.envelope ? JSON.stringify(exchange.envelope, null, 2) : null;
  return html`
    <details class="fold raw card">
      <summary>${t("raw.title")}</summary>
      <div class="stack">
        <div class="row apart">
          <${Segment}
            label=${t("raw.form")}
            options=${[
              ["curl", "curl"],
              ["python", "Python"],
              ["json", "JSON"],
            ]}
            value=${form}
            onChange=${setForm}
          />
          <${Copy} text=${text} label=${t("raw.copy_request")} />
        </div>
        <pre tabindex="0" aria-label=${t("raw.request")}>${text}</pre>
        ${responseText && html`
          <div class="row apart">
            <h3>${t("raw.response")} <span class="soft small">HTTP ${exchange.status} · ${exchange.ms} ms</span></h3>
            <${Copy} text=${responseText} label=${t("raw.copy_response")} />
          </div>
          <pre tabindex="0" aria-label=${t("raw.response")}>
            ${
              responseText.length > SHOWN_CHARS
                ? `${responseText.slice(0, SHOWN_CHARS)}\n… ${t("raw.cut")}`
                : responseText
            }
          </pre>
        `}
      </div>
    </details>
  `;
}
