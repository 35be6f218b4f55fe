// The tracks of a catalogue page by page: state, newest result, and what it found. The figures are those
// of the library of queries, as on the page that compares tracks.
import { PATHS, address, request } from "../../api.js";
import { DASH, Foreign, compact, count, moment } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { Badge, ErrorNote, Loading, SelectField } from "../../parts/ui.js";
import { PlainTable } from "../../parts/table.js";
import { go, link } from "../../router.js";
import { toRows } from "../result/genealogy.js";
import "../../messages/catalogs.js";
import "../../messages/compare.js";
import "../../messages/scan.js";

const PAGE = 50;
const STATES = ["fresh", "stale", "running", "failed", "never_read"];
const TONES = { fresh: "good", stale: "warn", running: "accent", failed: "bad" };
const figures = (signal) =>
  request(PATHS.sql, { method: "POST", body: { query: "compare-tracks", row_limit: 10_000 }, signal }).then(
    (envelope) => new Map(toRows(envelope.data).map((row) => [row.music_id, row])),
    () => new Map(),
  );

export function CatalogTracks({ catalog, query, readAt }) {
  const [page, setPage] = useState({});
  const [found, setFound] = useState(new Map());
  const state = STATES.includes(query.state) ? query.state : "";
  const cursor = Number(query.from) || 0;
  const place = address(`${PATHS.catalogs}/${encodeURIComponent(catalog.name)}/tracks`, { state, cursor, limit: PAGE });
  useEffect(() => {
    // again whenever the list of catalogues is
    const stopping = new AbortController();
    request(place, { signal: stopping.signal }).then(
      (envelope) => setPage({ place, from: cursor, ...envelope.data }),
      (error) => {
        if (error.name !== "AbortError") setPage((known) => ({ ...(known.place === place && known), place, error }));
      },
    );
    return () => stopping.abort();
  }, [place, readAt]);
  useEffect(() => {
    const stopping = new AbortController();
    figures(stopping.signal).then(setFound);
    return () => stopping.abort();
  }, [catalog.name, catalog.states.fresh, catalog.track_count]);
  const choose = (value) => go(["catalogs"], { name: catalog.name, state: value });
  const setCursor = (at) => go(["catalogs"], { ...query, from: at || "" });
  const { tracks, error } = page;
  return html`
    <div class="row">
      <${SelectField}
        label=${t("catalog.state")}
        value=${state}
        onChange=${choose}
        options=${[["", t("catalog.all_states")], ...STATES.map((one) => [one, t(`catalog.state.${one}`)])]}
      />
      ${tracks && html`
        <span class="small soft" role="status">
          ${t("catalog.shown", {
            first: count(tracks.length ? page.from + 1 : 0),
            last: count(page.from + tracks.length),
            total: count(page.total_count),
          })}
        </span>
      `}
    </div>
    <${ErrorNote} error=${error} />
    ${!tracks && !error && html`<${Loading} />`}
    ${tracks?.length > 0 && html`
      <${PlainTable}
        rows=${tracks}
        keyOf=${(row) => row.key}
        caption=${t("catalog.tracks")}
        columns=${columns(found)}
      />
    `}
    ${tracks && page.total_count > PAGE && html`
      <div class="row no-print">
        <button
          type="button"
          class="button little"
          disabled=${cursor === 0}
          onClick=${() => setCursor(Math.max(0, cursor - PAGE))}
        >
          ${t("catalog.earlier")}
        </button>
        <button
          type="button"
          class="button little"
          disabled=${page.next_cursor === null}
          onClick=${() => setCursor(page.next_cursor)}
        >
          ${t("catalog.later")}
        </button>
      </div>
    `}
  `;
}

// A track that the catalogue has not run yet may have been scanned by somebody else: its key names the music id.
function columns(found) {
  const known = (row) => found.get(row.music_id ?? row.key.replace(/^music:/, ""));
  const figure = (key, label, show) => ({
    key,
    label: t(label),
    num: true,
    render: (row) => {
      const one = known(row);
      return one ? show(one) : DASH;
    },
  });
  return [
    {
      key: "track",
      label: t("catalog.track"),
      render: (row) => {
        const text = row.label ?? known(row)?.title ?? row.input;
        const job = row.result_job_id ?? known(row)?.newest_job_id;
        return html`
          <div class="cell-title">
            ${job
              ? html`<a href=${link(["job", job])}><${Foreign} text=${text} /></a>`
              : html`<${Foreign} text=${text} />`}
          </div>
        `;
      },
    },
    {
      key: "state",
      label: t("catalog.state"),
      render: (row) => html`
        <${Badge} tone=${TONES[row.state] ?? ""} title=${row.error?.detail}>${t(`catalog.state.${row.state}`)}<//>
        ${row.job_id ? html`
          ${" "}<a class="small" href=${link(["job", row.job_id])}>
            ${t(row.stage ? `stage.${row.stage}` : "catalog.queued")}
          </a>
        ` : row.error && html`${" "}<span class="small soft">${row.error.detail}</span>`}
      `,
    },
    figure("videos", "compare.confirmed", (one) => count(one.videos)),
    figure("music_ids", "compare.music_ids", (one) => count(one.music_ids)),
    figure("estimate", "compare.estimate", (one) =>
      one.estimated_music_ids === null
        ? DASH
        : t("compare.interval", {
            point: count(one.estimated_music_ids),
            low: count(one.lower_music_ids),
            high: count(one.upper_music_ids),
          }),
    ),
    figure("variants", "compare.variants", (one) => count(one.variants)),
    figure("likes", "compare.likes", (one) => compact(one.likes)),
    {
      key: "at",
      label: t("catalog.result_at"),
      render: (row) => {
        const at = row.result_at ?? known(row)?.last_result_at;
        return at ? moment(at) : DASH;
      },
    },
  ];
}
