// Watchlists as they are kept: what is looked at, its rhythm and thresholds, the last run, and to
// make, pause, run and remove one. What a run found is in `digest.js`, the form in `watch_form.js`.
import { PATHS, ask } from "../api.js";
import { Foreign, count, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { Badge, Card, Empty, Fault, Loading } from "../parts/ui.js";
import { PlainTable } from "../parts/table.js";
import { tell } from "../state.js";
import { Digest } from "./digest.js";
import { WatchForm } from "./watch_form.js";

const TONES = { completed: "good", failed: "bad", running: "accent", due: "info", waiting: "accent" };
const placeOf = (name) => `${PATHS.watchlists}/${encodeURIComponent(name)}`;

export function Watchlists() {
  const [state, setState] = useState({});
  const [open, setOpen] = useState(null);
  const [isNew, setNew] = useState(false);
  const read = (signal) => ask(PATHS.watchlists, { signal }).then((envelope) => setState({ lists: envelope.data.watchlists }), (error) => { if (error.name !== "AbortError") setState({ error }); });
  useEffect(() => {
    const stopping = new AbortController();
    read(stopping.signal);
    return () => stopping.abort();
  }, []);
  const change = (place, options, said) => ask(place, options).then(() => { tell(t(said)); return read(); }, (error) => tell(error.message));
  const acts = {
    run: (name) => change(`${placeOf(name)}/runs`, { method: "POST" }, "watch.started"),
    turn: (row) => change(placeOf(row.name), { method: "PATCH", body: { enabled: !row.enabled } }, row.enabled ? "watch.is_paused" : "watch.is_resumed"),
    remove: (name) => change(placeOf(name), { method: "DELETE" }, "watch.removed"),
  };
  const { lists, error } = state;
  const chosen = lists?.find((one) => one.name === open);
  return html`<${Card} title=${t("watch.title")} aside=${html`<button type="button" class="button little" onClick=${() => setNew(!isNew)} aria-expanded=${String(isNew)}>${t("watch.new")}</button>`}>
    ${isNew && html`<${WatchForm} onMade=${() => { setNew(false); tell(t("watch.made")); return read(); }} />`}
    <${Fault} error=${error} />${!lists && !error && html`<${Loading} />`}
    ${lists?.length === 0 && html`<${Empty} title=${t("watch.empty")} icon="clock">${t("watch.empty_hint")}<//>`}
    ${lists?.length > 0 && html`<${Lists} lists=${lists} open=${open} onOpen=${setOpen} acts=${acts} />`}
    ${chosen && html`<${Kept} key=${`${chosen.name}${chosen.last_run?.run_id}${chosen.last_run?.status}`} list=${chosen} onTurn=${() => acts.turn(chosen)} onRemove=${() => acts.remove(chosen.name)} />`}<//>`;
}

function Lists({ lists, open, onOpen, acts }) {
  return html`<${PlainTable} rows=${lists} keyOf=${(row) => row.name} caption=${t("watch.title")} columns=${[
    { key: "name", label: t("reference.name"), render: (row) => html`<button type="button" class="button little" aria-expanded=${String(row.name === open)} onClick=${() => onOpen(row.name === open ? null : row.name)}><${Foreign} text=${row.name} /></button>` },
    { key: "every", label: t("watch.every"), render: (row) => html`<span class="mono tiny">${row.every}</span>` },
    { key: "entries", label: t("watch.entries"), num: true, render: (row) => count(row.entries.length) },
    { key: "next", label: t("watch.next"), render: (row) => (row.enabled ? moment(row.next_due_at) : t("watch.paused")) },
    { key: "last", label: t("watch.last"), render: (row) => (row.last_run ? html`<span class="row"><${Badge} tone=${TONES[row.last_run.status] ?? ""}>${t(`watch.status.${row.last_run.status}`)}<//><span class="small soft">${t("watch.changes", { number: count(row.last_run.change_count) })}</span></span>` : "—") },
    { key: "run", label: t("col.more"), render: (row) => html`<button type="button" class="button little" onClick=${() => acts.run(row.name)}>${t("watch.run")}</button>` }]} />`;
}

function Kept({ list, onTurn, onRemove }) {
  const [isSure, setSure] = useState(false);
  const { velocity, rank_change: places, new_music_id: ids } = list.thresholds;
  const limits = [[t("watch.velocity"), count(velocity)], [t("watch.rank_change"), count(places)], [t("watch.new_music_id"), t(ids ? "watch.told" : "watch.not_told")]];
  return html`<h3><${Foreign} text=${list.name} /></h3>
    <ul class="list small">${list.entries.map((entry, at) => html`<li key=${at}>${t(`watch.kind.${entry.kind}`)} <span class="mono"><${Foreign} text=${entry.input} /></span></li>`)}</ul>
    <p class="small soft">${limits.map(([name, value]) => `${name}: ${value}`).join(" · ")} · <span class="mono tiny">${list.cron} UTC</span></p>
    <div class="row"><button type="button" class="button little" onClick=${onTurn}>${t(list.enabled ? "watch.pause" : "watch.resume")}</button>
      <button type="button" class="button little" onClick=${() => (isSure ? onRemove() : setSure(true))}>${t(isSure ? "watch.remove_sure" : "watch.remove")}</button></div>
    <${Digest} place=${placeOf(list.name)} />`;
}
