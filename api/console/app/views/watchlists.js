// Watchlists: entries, schedule, thresholds, runs and their newest digest; create, pause, run and delete.
import { PATHS, request, unlessAborted } from "../api.js";
import { count, Foreign, moment, partsOf } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { labelOf, named, t } from "../i18n.js";
import { limitsOf } from "../limits.js";
import { notify } from "../state.js";
import { useDocument } from "../parts/reads.js";
import { PlainTable } from "../parts/table.js";
import {
  Badge,
  Card,
  CheckField,
  Empty,
  ErrorNote,
  Loading,
  notifyError,
  SelectField,
  TextField,
  useId,
} from "../parts/ui.js";
import "../messages/operator.js";
import "../messages/result.js";
import "../messages/watchlists.js";

const TONES = { completed: "good", failed: "bad", due: "info", waiting: "accent" };
const placeOf = (name) => `${PATHS.watchlists}/${encodeURIComponent(name)}`;

export function Watchlists() {
  const [state, setState] = useState({});
  const [open, setOpen] = useState(null);
  const [isNew, setNew] = useState(false);
  const read = (signal) =>
    request(PATHS.watchlists, { signal }).then(
      (envelope) => setState({ lists: envelope.data.watchlists }),
      unlessAborted((error) => setState((current) => ({ ...current, error }))),
    );
  useEffect(() => {
    const stopping = new AbortController();
    read(stopping.signal);
    return () => stopping.abort();
  }, []);
  const change = (place, options, message) =>
    request(place, options).then(() => {
      notify(t(message));
      return read();
    }, notifyError);
  const acts = {
    run: (name) => change(`${placeOf(name)}/runs`, { method: "POST" }, "watchlist.started"),
    turn: (row) =>
      change(
        placeOf(row.name),
        { method: "PATCH", body: { enabled: !row.enabled } },
        row.enabled ? "watchlist.is_paused" : "watchlist.is_resumed",
      ),
    remove: (name) => change(placeOf(name), { method: "DELETE" }, "watchlist.removed"),
  };
  const { lists, error } = state;
  const chosen = lists?.find((list) => list.name === open);
  return html`
    <${Card}
      title=${t("watchlist.title")}
      aside=${html`
        <button type="button" class="button little" onClick=${() => setNew(!isNew)} aria-expanded=${String(isNew)}>
          ${t("watchlist.new")}
        </button>
      `}
    >
      ${isNew && html`
        <${WatchlistForm}
          onCreated=${() => {
            setNew(false);
            notify(t("watchlist.saved"));
            return read();
          }}
        />
      `}
      <${ErrorNote} error=${error} />
      ${!lists && !error && html`<${Loading} rows=${5} />`}
      ${lists?.length === 0 && html`
        <${Empty} title=${t("watchlist.empty")} icon="clock">${t("watchlist.empty_hint")}<//>
      `}
      ${lists?.length > 0 && html`<${Lists} lists=${lists} open=${open} onOpen=${setOpen} acts=${acts} />`}
      ${chosen && html`
        <${WatchlistDetails}
          key=${`${chosen.name}${chosen.last_run?.run_id}${chosen.last_run?.status}`}
          list=${chosen}
          onTurn=${() => acts.turn(chosen)}
          onRemove=${() => acts.remove(chosen.name)}
        />
      `}
    <//>
  `;
}

function Lists({ lists, open, onOpen, acts }) {
  return html`
    <${PlainTable}
      rows=${lists}
      keyOf=${(row) => row.name}
      caption=${t("watchlist.title")}
      columns=${[
        {
          key: "name",
          label: t("reference.name"),
          render: (row) => html`
            <button
              type="button"
              class="button little"
              aria-expanded=${String(row.name === open)}
              onClick=${() => onOpen(row.name === open ? null : row.name)}
            >
              <${Foreign} text=${row.name} />
            </button>
          `,
        },
        {
          key: "every",
          label: t("watchlist.every"),
          render: (row) => html`<span class="mono tiny">${row.every}</span>`,
        },
        { key: "entries", label: t("watchlist.entries"), num: true, render: (row) => count(row.entries.length) },
        {
          key: "next",
          label: t("watchlist.next"),
          render: (row) => (row.enabled ? moment(row.next_due_at) : t("watchlist.paused")),
        },
        {
          key: "last",
          label: t("watchlist.last"),
          render: (row) =>
            row.last_run ? html`
              <span class="row">
                <${Badge} tone=${TONES[row.last_run.status] ?? ""}>${t(`watchlist.status.${row.last_run.status}`)}<//>
                <span class="small soft">${t("watchlist.changes", { number: count(row.last_run.change_count) })}</span>
              </span>
            ` : "—",
        },
        {
          key: "run",
          label: t("col.more"),
          render: (row) => html`
            <button type="button" class="button little" onClick=${() => acts.run(row.name)}>
              ${t("watchlist.run")}
            </button>
          `,
        },
      ]}
    />
  `;
}

function WatchlistDetails({ list, onTurn, onRemove }) {
  const [isSure, setSure] = useState(false);
  const { velocity, rank_change: places, new_music_id: ids } = list.thresholds;
  const limits = [
    [t("watchlist.velocity"), count(velocity)],
    [t("watchlist.rank_change"), count(places)],
    [t("watchlist.new_music_id"), t(ids ? "watchlist.yes" : "watchlist.no")],
  ];
  return html`
    <h3><${Foreign} text=${list.name} /></h3>
    <ul class="list small">
      ${list.entries.map((entry, at) => html`
        <li key=${at}>
          ${t(`watchlist.kind.${entry.kind}`)} <span class="mono"><${Foreign} text=${entry.input} /></span>
        </li>
      `)}
    </ul>
    <p class="small soft">
      ${limits.map(([name, value]) => named(name, value)).join(" · ")} · <span class="mono tiny">${list.cron} UTC</span>
    </p>
    <div class="row">
      <button type="button" class="button little" onClick=${onTurn}>
        ${t(list.enabled ? "watchlist.pause" : "watchlist.resume")}
      </button>
      <button type="button" class="button little" onClick=${() => (isSure ? onRemove() : setSure(true))}>
        ${t(isSure ? "watchlist.remove_sure" : "watchlist.remove")}
      </button>
    </div>
    <${Digest} place=${placeOf(list.name)} />
  `;
}

const KINDS = ["track", "account", "hashtag"];
// An empty threshold means "never", which the service stores as null.
const numberOf = (text) => (text.trim() === "" ? null : Number(text));
const thresholdOf = (value) => (typeof value === "boolean" ? value : numberOf(value));

// Name, schedule, inputs (one per line) and thresholds of a new watchlist.
function WatchlistForm({ onCreated }) {
  const [fields, setFields] = useState({ name: "", every: "daily", kind: "track", inputs: "" });
  const [thresholds, setThresholds] = useState({}); // only those that were changed: the service has the defaults
  const [state, setState] = useState({});
  const id = useId("w");
  const setField = (name) => (value) => setFields({ ...fields, [name]: value });
  const setThreshold = (name, value) => setThresholds({ ...thresholds, [name]: value });
  const create = (event) => {
    event.preventDefault();
    setState({ busy: true });
    const body = {
      name: fields.name,
      every: fields.every,
      entries: partsOf(fields.inputs, "\n").map((input) => ({ kind: fields.kind, input })),
      thresholds: Object.fromEntries(Object.entries(thresholds).map(([name, value]) => [name, thresholdOf(value)])),
    };
    request(PATHS.watchlists, { method: "POST", body }).then(onCreated, (error) => setState({ error }));
  };
  return html`
    <form class="stack" onSubmit=${create}>
      <div class="grid">
        <${TextField}
          label=${t("reference.name")}
          value=${fields.name}
          onInput=${setField("name")}
          pattern="[a-z0-9][a-z0-9_\\-]*"
          maxlength="64"
          hint=${t("watchlist.name_hint")}
          required
        />
        <${TextField}
          label=${t("watchlist.every")}
          value=${fields.every}
          onInput=${setField("every")}
          hint=${t("watchlist.every_hint")}
          required
        />
        <${SelectField}
          label=${t("watchlist.kind")}
          value=${fields.kind}
          onChange=${setField("kind")}
          options=${KINDS.map((kind) => [kind, t(`watchlist.kind.${kind}`)])}
        />
        ${["velocity", "rank_change"].map((name) => html`
          <${TextField}
            key=${name}
            type="number"
            label=${t(`watchlist.${name}`)}
            value=${thresholds[name] ?? limitsOf(name)?.default}
            onInput=${(text) => setThreshold(name, text)}
            min=${limitsOf(name)?.minimum}
            max=${limitsOf(name)?.maximum}
            hint=${t("watchlist.empty_is_never")}
          />
        `)}
      </div>
      <div class="field">
        <label for=${id}>${t("watchlist.inputs")}</label>
        <textarea
          id=${id}
          rows="4"
          value=${fields.inputs}
          onInput=${(event) => setField("inputs")(event.currentTarget.value)}
          required
        ></textarea>
      </div>
      <${CheckField}
        label=${t("watchlist.new_music_id")}
        value=${thresholds.new_music_id ?? limitsOf("new_music_id")?.default}
        onChange=${(value) => setThreshold("new_music_id", value)}
      />
      <${ErrorNote} error=${state.error} />
      <div class="row">
        <button type="submit" class="button main-act" disabled=${state.busy}>${t("watchlist.save")}</button>
      </div>
    </form>
  `;
}

// Title, id and note of a change, by its kind.
const CHANGES = {
  fast_works: (video) => [
    video.title,
    video.aweme_id,
    t("digest.per_day", { number: count(Math.round(video.velocity)) }),
  ],
  rank_changes: (video) => [video.title, video.aweme_id, `${count(video.before)} → ${count(video.after)}`],
  new_music_ids: (music) => [null, music.music_id, t("digest.works", { number: count(music.work_count) })],
  new_works: (video) => [video.title, video.aweme_id, video.rank ? `#${count(video.rank)}` : ""],
  vanished_works: (video) => [video.title, video.aweme_id, video.reason ?? t("digest.not_shown")],
};

// The newest digest: changes by entry and kind, with their numbers.
function Digest({ place }) {
  const { data, error } = useDocument(`${place}/digests?limit=1`);
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!data) return html`<${Loading} rows=${2} />`;
  const [digest] = data.digests;
  if (!digest) return html`<p class="small soft">${t("digest.none")}</p>`;
  return html`
    <h3>
      ${t("digest.title", { when: moment(digest.ended_at) })}${" "}
      <${Badge}>${t("watchlist.changes", { number: count(digest.change_count) })}<//>
    </h3>
    ${digest.entries.map((entry) => html`<${Entry} key=${`${entry.kind}${entry.input}`} entry=${entry} />`)}
  `;
}

// A count of the subject, with what changed since the run before, if both are known.
function figureText({ after, change, per_day: perDay }) {
  if (change === null) return count(after);
  const signed = (value) => `${value > 0 ? "+" : ""}${count(Math.round(value))}`;
  return t(perDay === null ? "digest.change" : "digest.change_per_day", {
    number: count(after),
    change: signed(change),
    rate: perDay === null ? "" : signed(perDay),
  });
}

function Entry({ entry }) {
  const { changes } = entry;
  const kinds = changes ? Object.keys(CHANGES).filter((kind) => changes[kind].length) : [];
  const figures = changes?.figures.map((figure) => named(labelOf("figure", figure.name), figureText(figure))) ?? [];
  return html`
    <div class="small">
      <b>${t(`watchlist.kind.${entry.kind}`)} <${Foreign} text=${entry.title ?? entry.input} /></b>
      ${entry.error && html`${" "}<${Badge} tone="bad">${labelOf("stop", entry.error.type)}<//>`}
      ${figures.length > 0 && html`<div class="soft">${figures.join(" · ")}</div>`}
      ${changes && !kinds.length && html`
        ${" "}<span class="soft">${t(changes.since ? "digest.nothing" : "digest.first")}</span>
      `}
      ${kinds.map((kind) => html`
        <div key=${kind}>
          ${t(`digest.${kind}`)}
          <ul class="list">
            ${changes[kind].map(CHANGES[kind]).map(([title, id, note]) => html`
              <li key=${id}>
                ${title && html`<${Foreign} text=${title} />${" "}`}
                <span class="mono tiny">${id}</span> <span class="soft">${note}</span>
              </li>
            `)}
          </ul>
        </div>
      `)}
    </div>
  `;
}
