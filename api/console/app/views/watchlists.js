// Watchlists as they are kept: their rhythm, what became of the last run, and a run at once.
import { PATHS, ask } from "../api.js";
import { Foreign, count, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { Badge, Card, Empty, Fault, Loading } from "../parts/ui.js";
import { PlainTable } from "../parts/table.js";
import { tell } from "../state.js";

const TONES = { completed: "good", failed: "bad", running: "accent", due: "info" };

export function Watchlists() {
  const [state, setState] = useState({});
  const read = (signal) => ask(PATHS.watchlists, { signal }).then((envelope) => setState({ lists: envelope.data.watchlists }), (error) => { if (error.name !== "AbortError") setState({ error }); });
  useEffect(() => {
    const stopping = new AbortController();
    read(stopping.signal);
    return () => stopping.abort();
  }, []);
  const run = (name) => ask(`${PATHS.watchlists}/${encodeURIComponent(name)}/runs`, { method: "POST" }).then(() => { tell(t("watch.started")); return read(); }, (error) => tell(error.message));
  const { lists, error } = state;
  return html`<${Card} title=${t("watch.title")}><${Fault} error=${error} />${!lists && !error && html`<${Loading} />`}
    ${lists?.length === 0 && html`<${Empty} title=${t("watch.empty")} icon="clock">${t("watch.empty_hint")}<//>`}
    ${lists?.length > 0 && html`<${PlainTable} rows=${lists} keyOf=${(row) => row.name} caption=${t("watch.title")} columns=${[
      { key: "name", label: t("reference.name"), render: (row) => html`<b><${Foreign} text=${row.name} /></b>` },
      { key: "every", label: t("watch.every"), render: (row) => html`<span class="mono tiny">${row.every}</span>` },
      { key: "entries", label: t("watch.entries"), num: true, render: (row) => count(row.entries.length) },
      { key: "next", label: t("watch.next"), render: (row) => (row.enabled ? moment(row.next_due_at) : t("watch.paused")) },
      { key: "last", label: t("watch.last"), render: (row) => (row.last_run ? html`<span class="row"><${Badge} tone=${TONES[row.last_run.status] ?? ""}>${row.last_run.status.replaceAll("_", " ")}<//><span class="small soft">${t("watch.changes", { number: count(row.last_run.change_count) })}</span></span>` : "—") },
      { key: "run", label: t("col.more"), render: (row) => html`<button type="button" class="button little" onClick=${() => run(row.name)}>${t("watch.run")}</button>` }]} />`}<//>`;
}
