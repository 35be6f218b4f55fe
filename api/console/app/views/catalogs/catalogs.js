// Catalogues: lists of up to 10,000 tracks, what is due in each, their runs. The form is in
// `catalog_form.js`, the tracks of one are in `catalog_tracks.js`.
import { PATHS, request } from "../../api.js";
import { Foreign, count, moment } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { named, t } from "../../i18n.js";
import { Badge, Card, Empty, ErrorNote, Figures, Head, Loading, notifyError } from "../../parts/ui.js";
import { PlainTable } from "../../parts/table.js";
import { go, link, route } from "../../router.js";
import { notify } from "../../state.js";
import { CatalogForm } from "./catalog_form.js";
import { CatalogTracks } from "./catalog_tracks.js";
import "../../messages/catalogs.js";
import "../../messages/operator.js";
import "../../messages/result.js";

const POLL_MS = 3000; // while a run is under way
export const placeOf = (name) => `${PATHS.catalogs}/${encodeURIComponent(name)}`;

export function CatalogsView({ query }) {
  const [state, setState] = useState({});
  const [isOpen, setOpen] = useState(false);
  const read = (signal) =>
    request(PATHS.catalogs, { signal }).then(
      (envelope) => setState({ lists: envelope.data.catalogs, readAt: Date.now() }),
      (error) => {
        if (error.name !== "AbortError") setState((known) => ({ ...known, error }));
      },
    );
  const { lists, readAt, error } = state;
  const isRunning = Boolean(lists?.some((one) => one.is_running || one.states.running));
  useEffect(() => {
    const stopping = new AbortController();
    read(stopping.signal);
    const timer = isRunning ? setInterval(() => read(stopping.signal), POLL_MS) : null;
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [isRunning]);
  const act = (path, method, said) =>
    request(path, { method }).then(() => {
      notify(t(said));
      return read();
    });
  const acts = {
    run: (name) => act(`${placeOf(name)}/runs`, "POST", "catalog.started").catch(notifyError),
    stop: (name) => act(`${placeOf(name)}/runs`, "DELETE", "catalog.stopped").catch(notifyError),
    remove: (name) =>
      act(placeOf(name), "DELETE", "catalog.removed").then(() => {
        if (route.value.query.name === name) go(["catalogs"]);
      }, notifyError), // unless the reader has gone on
  };
  const chosen = lists?.find((one) => one.name === query.name);
  const imported = (name) => {
    setOpen(false);
    go(["catalogs"], { name });
    return read();
  };
  return html`
    <${Head} title=${t("catalog.title")} lead=${t("catalog.lead")}>
      <button type="button" class="button" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>
        ${t("catalog.import")}
      </button>
    <//>
    ${isOpen && html`
      <${Card} title=${t("catalog.import")}>
        <${CatalogForm} name=${chosen?.name ?? ""} onStored=${() => read()} onImported=${imported} />
      <//>
    `}
    <${ErrorNote} error=${error} />
    ${!lists && !error && html`<${Card}><${Loading} /><//>`}
    ${lists?.length === 0 && html`<${Empty} title=${t("catalog.empty")} icon="list">${t("catalog.empty_hint")}<//>`}
    ${lists?.length > 0 && html`<${Card} title=${t("catalog.all")}><${Lists} lists=${lists} acts=${acts} /><//>`}
    ${chosen && html`
      <${CatalogDetails}
        key=${chosen.name}
        catalog=${chosen}
        query=${query}
        readAt=${readAt}
        onRemove=${() => acts.remove(chosen.name)}
      />
    `}
    ${lists && query.name && !chosen && html`
      <${Empty} title=${t("catalog.unknown", { name: query.name })} icon="list" />
    `}
  `;
}

function Lists({ lists, acts }) {
  return html`
    <${PlainTable}
      rows=${lists}
      keyOf=${(row) => row.name}
      caption=${t("catalog.title")}
      columns=${[
        {
          key: "name",
          label: t("reference.name"),
          class: "cell-name",
          render: (row) => html`<a href=${link(["catalogs"], { name: row.name })}><${Foreign} text=${row.name} /></a>`,
        },
        { key: "tracks", label: t("catalog.tracks"), num: true, render: (row) => count(row.track_count) },
        ...["fresh", "running", "failed"].map((state) => ({
          key: state,
          label: t(`catalog.state.${state}`),
          num: true,
          render: (row) => count(row.states[state]),
        })),
        { key: "due", label: t("catalog.due"), num: true, render: (row) => count(row.due_count) },
        {
          key: "today",
          label: t("catalog.today"),
          class: "nowrap",
          render: (row) =>
            t("catalog.spent", { tracks: count(row.spent_today.tracks), requests: count(row.spent_today.requests) }),
        },
        {
          key: "run",
          label: t("col.more"),
          render: (row) =>
            row.is_running ? html`
              <span class="row">
                <${Badge} tone="accent">${t("catalog.is_running")}<//>
                <button type="button" class="button little" onClick=${() => acts.stop(row.name)}>
                  ${t("catalog.stop")}
                </button>
              </span>
            ` : html`
              <button
                type="button"
                class="button little"
                disabled=${!row.due_count}
                onClick=${() => acts.run(row.name)}
              >
                ${t("catalog.run")}
              </button>
            `,
        },
      ]}
    />
  `;
}

function CatalogDetails({ catalog, query, readAt, onRemove }) {
  const [isSure, setSure] = useState(false);
  const { settings, states } = catalog;
  const limit = (value) => (value === null ? t("catalog.no_limit") : count(value));
  return html`
    <${Card} title=${html`<${Foreign} text=${catalog.name} />`}>
      <${Figures}
        items=${[
          [t("catalog.tracks"), count(catalog.track_count)],
          [t("catalog.state.fresh"), count(states.fresh)],
          [t("catalog.state.never_read"), count(states.never_read)],
          [t("catalog.due"), count(catalog.due_count)],
        ]}
      />
      <p class="small soft">
        ${[
          named(t("catalog.fresh_days"), count(settings.fresh_days)),
          named(t("catalog.tracks_per_day"), limit(settings.tracks_per_day)),
          named(t("catalog.requests_per_day"), limit(settings.requests_per_day)),
          named(t("catalog.changed"), moment(catalog.updated_at)),
        ].join(" · ")}
      </p>
      <p class="small soft">${t("catalog.report_hint")} <code>sametrack catalog report ${catalog.name}</code></p>
      <${CatalogTracks} catalog=${catalog} query=${query} readAt=${readAt} />
      <div class="row no-print">
        <button type="button" class="button little" onClick=${() => (isSure ? onRemove() : setSure(true))}>
          ${t(isSure ? "catalog.remove_sure" : "catalog.remove")}
        </button>
      </div>
    <//>
  `;
}
