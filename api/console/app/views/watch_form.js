// A new watchlist: its name, its rhythm, what it looks at (one per line), and its thresholds.
import { PATHS, ask } from "../api.js";
import { html, useState } from "../html.js";
import { t } from "../i18n.js";
import { CheckField, Fault, SelectField, TextField, useId } from "../parts/ui.js";

const KINDS = ["track", "account", "hashtag"];
const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);
// An empty field of a threshold means "never", which the service writes as null.
const number = (text) => (text.trim() === "" ? null : Number(text));

export function WatchForm({ onMade }) {
  const [given, setGiven] = useState({ name: "", every: "daily", kind: "track", inputs: "", velocity: "1000", places: "3", ids: true });
  const [state, setState] = useState({});
  const id = useId("w");
  const put = (name) => (value) => setGiven({ ...given, [name]: value });
  const make = (event) => {
    event.preventDefault();
    setState({ busy: true });
    const body = {
      name: given.name, every: given.every,
      entries: lines(given.inputs).map((input) => ({ kind: given.kind, input })),
      thresholds: { velocity: number(given.velocity), rank_change: number(given.places), new_music_id: given.ids },
    };
    ask(PATHS.watchlists, { method: "POST", body }).then(onMade, (error) => setState({ error }));
  };
  return html`<form class="stack" onSubmit=${make}><div class="grid">
      <${TextField} label=${t("reference.name")} value=${given.name} onInput=${put("name")} pattern="[a-z0-9][a-z0-9_\\-]*" maxlength="64" hint=${t("watch.name_hint")} required />
      <${TextField} label=${t("watch.every")} value=${given.every} onInput=${put("every")} hint=${t("watch.every_hint")} required />
      <${SelectField} label=${t("watch.kind")} value=${given.kind} onChange=${put("kind")} options=${KINDS.map((kind) => [kind, t(`watch.kind.${kind}`)])} />
      <${TextField} type="number" label=${t("watch.velocity")} value=${given.velocity} onInput=${put("velocity")} min="0" hint=${t("watch.empty_is_never")} />
      <${TextField} type="number" label=${t("watch.rank_change")} value=${given.places} onInput=${put("places")} min="1" hint=${t("watch.empty_is_never")} /></div>
    <div class="field"><label for=${id}>${t("watch.inputs")}</label><textarea id=${id} rows="4" value=${given.inputs} onInput=${(event) => put("inputs")(event.currentTarget.value)} required></textarea></div>
    <${CheckField} label=${t("watch.new_music_id")} value=${given.ids} onChange=${put("ids")} />
    <${Fault} error=${state.error} /><div class="row"><button type="submit" class="button main-act" disabled=${state.busy}>${t("watch.make")}</button></div></form>`;
}
