// Watchlists: entries, schedule, thresholds and last run; create, pause, run and delete.
// What a run found is in `digest.js`, the form in `watchlist_form.js`.
import { PATHS, request } from "../../api.js";
import { Foreign, count, moment } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { named, t } from "../../i18n.js";
import { Badge, Card, Empty, ErrorNote, Loading, notifyError } from "../../parts/ui.js";
import { PlainTable } from "../../parts/table.js";
import { notify } from "../../state.js";
import { Digest } from "./digest.js";
import { WatchlistForm } from "./watchlist_form.js";
import "../../messages/operator.js";
import "../../messages/result.js";
import "../../messages/watchlists.js";

const TONES = { completed: "good", failed: "bad", due: "info", waiting: "accent" };
const placeOf = (name) => `${PATHS.watchlists}/${encodeURIComponent(name)}`;

export function Watchlists() {
  const [state, setState] = useState({});
  const [open, setOpen] = useState(null);
  const [isNew, setNew] = useState(false);
  const read = (signal) =>
    request(PATHS.watchlists, { signal }).then(
      (envelope) => setState({ lists: envelope.data.watchlists }),
      (error) => {
        if (error.name !== "AbortError") setState((known) => ({ ...known, error }));
      },
    );
  useEffect(() => {
    const stopping = new AbortController();
    read(stopping.signal);
    return () => stopping.abort();
  }, []);
  const change = (place, options, said) =>
    request(place, options).then(() => {
      notify(t(said));
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
  const chosen = lists?.find((one) => one.name === open);
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
