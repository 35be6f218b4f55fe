// Form for a new watchlist: name, schedule, inputs (one per line) and thresholds.
import { PATHS, request } from "../../api.js";
import { html, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { CheckField, ErrorNote, SelectField, TextField, useId } from "../../parts/ui.js";
import "../../messages/operator.js";
import "../../messages/watchlists.js";

const KINDS = ["track", "account", "hashtag"];
const lines = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
// An empty threshold means "never", which the service stores as null.
const number = (text) => (text.trim() === "" ? null : Number(text));

export function WatchlistForm({ onCreated }) {
  const [given, setGiven] = useState({
    name: "",
    every: "daily",
    kind: "track",
    inputs: "",
    velocity: "1000",
    places: "3",
    ids: true,
  });
  const [state, setState] = useState({});
  const id = useId("w");
  const setField = (name) => (value) => setGiven({ ...given, [name]: value });
  const create = (event) => {
    event.preventDefault();
    setState({ busy: true });
    const body = {
      name: given.name,
      every: given.every,
      entries: lines(given.inputs).map((input) => ({ kind: given.kind, input })),
      thresholds: { velocity: number(given.velocity), rank_change: number(given.places), new_music_id: given.ids },
    };
    request(PATHS.watchlists, { method: "POST", body }).then(onCreated, (error) => setState({ error }));
  };
  return html`
    <form class="stack" onSubmit=${create}>
      <div class="grid">
        <${TextField}
          label=${t("reference.name")}
          value=${given.name}
          onInput=${setField("name")}
          pattern="[a-z0-9][a-z0-9_\\-]*"
          maxlength="64"
          hint=${t("watchlist.name_hint")}
          required
        />
        <${TextField}
          label=${t("watchlist.every")}
          value=${given.every}
          onInput=${setField("every")}
          hint=${t("watchlist.every_hint")}
          required
        />
        <${SelectField}
          label=${t("watchlist.kind")}
          value=${given.kind}
          onChange=${setField("kind")}
          options=${KINDS.map((kind) => [kind, t(`watchlist.kind.${kind}`)])}
        />
        <${TextField}
          type="number"
          label=${t("watchlist.velocity")}
          value=${given.velocity}
          onInput=${setField("velocity")}
          min="0"
          hint=${t("watchlist.empty_is_never")}
        />
        <${TextField}
          type="number"
          label=${t("watchlist.rank_change")}
          value=${given.places}
          onInput=${setField("places")}
          min="1"
          hint=${t("watchlist.empty_is_never")}
        />
      </div>
      <div class="field">
        <label for=${id}>${t("watchlist.inputs")}</label>
        <textarea
          id=${id}
          rows="4"
          value=${given.inputs}
          onInput=${(event) => setField("inputs")(event.currentTarget.value)}
          required
        ></textarea>
      </div>
      <${CheckField} label=${t("watchlist.new_music_id")} value=${given.ids} onChange=${setField("ids")} />
      <${ErrorNote} error=${state.error} />
      <div class="row">
        <button type="submit" class="button main-act" disabled=${state.busy}>${t("watchlist.save")}</button>
      </div>
    </form>
  `;
}
