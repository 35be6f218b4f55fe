// Two to six scanned tracks side by side: key figures, curves on one axis, shared accounts. The numbers
// are those of the library of queries, so the SQL page and the report show the same.
import { PATHS, request, unlessAborted } from "../api.js";
import { count, DASH, day, Foreign, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { go, link } from "../router.js";
import { COLORS, DASHES, TimeLines } from "../parts/charts.js";
import { Picture } from "../parts/media/picture.js";
import { readRows } from "../parts/reads.js";
import { MUSIC_ID } from "../parts/scan_request.js";
import { PlainTable } from "../parts/table.js";
import { Card, Copy, Empty, ErrorNote, Head, Loading } from "../parts/ui.js";
import "../messages/accounts.js";
import "../messages/compare.js";
import "../messages/figures.js";
import "../messages/result.js";

const MOST_TRACKS = 6;
const MOST_ROWS = 10_000;
const whole = (value) => (value === null ? DASH : count(Math.round(value)));
const FIGURES = [
  ["confirmed", (row) => count(row.videos)],
  ["accounts", (row) => count(row.accounts)],
  ["music_ids", (row) => count(row.music_ids)],
  [
    "estimate",
    (row) =>
      row.estimated_music_ids === null
        ? DASH
        : t("compare.interval", {
            point: count(row.estimated_music_ids),
            low: count(row.lower_music_ids),
            high: count(row.upper_music_ids),
          }),
  ],
  ["variants", (row) => count(row.variants)],
  ["likes", (row) => count(row.likes)],
  ["median_likes", (row) => whole(row.median_likes)],
  ["hot_score", (row) => count(row.hot_score)],
  ["uncounted", (row) => count(row.videos_without_all_counts)],
  ["first", (row) => day(row.first_published_at)],
  ["scans", (row) => count(row.scans)],
  ["last", (row) => moment(row.last_result_at)],
];

function idsOf(text) {
  return [...new Set((text ?? "").split(",").filter((id) => MUSIC_ID.test(id)))].slice(0, MOST_TRACKS);
}

export function CompareView({ query }) {
  const ids = idsOf(query.ids);
  const [state, setState] = useState({});
  const key = ids.join(",");
  useEffect(() => {
    const stopping = new AbortController();
    setState(({ tracks }) => ({ tracks }));
    read(ids, stopping.signal).then(
      setState,
      unlessAborted((error) => setState({ error })),
    );
    return () => stopping.abort();
  }, [key]);
  const { tracks, comparison, error } = state;
  const scannedIds = tracks ? scannedOf(ids, tracks) : ids;
  const unknown = ids.filter((id) => !scannedIds.includes(id));
  return html`
    <${Head} title=${t("compare.title")} lead=${t("compare.lead")}>
      ${comparison && html`
        <div class="row no-print"><${Copy} text=${() => location.href} label=${t("compare.copy_link")} /></div>
      `}
    <//>
    <${ErrorNote} error=${error} />
    ${!tracks && !error && html`<${Card}><${Loading} rows=${4} /><//>`}
    ${tracks && html`<${Choice} tracks=${tracks} ids=${scannedIds} />`}
    ${unknown.length > 0 && html`
      <div class="note warn" role="status"><p>${t("compare.unknown", { ids: unknown.join(", ") })}</p></div>
    `}
    ${tracks && scannedIds.length >= 2 && !comparison && !error && html`<${Card}><${Loading} rows=${5} /><//>`}
    ${comparison && html`<${Compared} ...${comparison} />`}
  `;
}

// The ids of scanned tracks.
const scannedOf = (ids, tracks) => ids.filter((id) => tracks.some((track) => track.music_id === id));

// Reads {tracks, comparison}: all scanned tracks, and the figures of the chosen ones if there are at least two.
async function read(chosenIds, signal) {
  const rows = await readRows("compare-tracks", { rowLimit: MOST_ROWS, signal });
  const tracks = rows.filter((track) => MUSIC_ID.test(track.music_id)); // a search by title is no track
  const ids = scannedOf(chosenIds, tracks);
  if (ids.length < 2) return { tracks };
  const options = { parameters: { music_ids: ids.join(",") }, rowLimit: MOST_ROWS, signal };
  const [weeks, shared, series] = await Promise.all([
    readRows("compare-published", options),
    readRows("compare-accounts", options),
    Promise.all(ids.map((id) => request(`${PATHS.series}/track/${id}`, { signal }))),
  ]);
  const chosen = ids.map((id) => tracks.find((track) => track.music_id === id));
  const growth = new Map(ids.map((id, at) => [id, series[at].data.points]));
  return { tracks, comparison: { chosen, weeks, shared, growth } };
}

// The scanned tracks to choose from; the address holds the choice.
function Choice({ tracks, ids }) {
  if (tracks.length < 2)
    return html`<${Empty} title=${t("compare.too_few")} icon="compare">${t("compare.too_few_hint")}<//>`;
  const flip = (id) =>
    go(["compare"], { ids: (ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id]).join(",") });
  return html`
    <details class="fold card no-print" open=${ids.length < 2}>
      <summary>${t("compare.choose", { chosen: ids.length, most: MOST_TRACKS })}</summary>
      <div class="choices">
        ${tracks.map((track) => html`
          <label class="check" key=${track.music_id}>
            <input
              type="checkbox"
              value=${track.music_id}
              checked=${ids.includes(track.music_id)}
              disabled=${!ids.includes(track.music_id) && ids.length >= MOST_TRACKS}
              onChange=${() => flip(track.music_id)}
            />
            <span>
              <${Foreign} text=${track.title} none=${track.music_id} />${" "}
              <span class="small soft">
                <${Foreign} text=${track.artist} none="" /> · ${t("compare.videos", { number: count(track.videos) })}
              </span>
            </span>
          </label>
        `)}
      </div>
    </details>
  `;
}

function Compared({ chosen, weeks, shared, growth }) {
  const colors = new Map(chosen.map((track, at) => [track.music_id, COLORS[at]]));
  const nameOf = (track) => track.title ?? track.music_id;
  const line = (track, at, points) => ({
    key: track.music_id,
    name: nameOf(track),
    color: COLORS[at],
    dash: DASHES[at],
    points,
  });
  const published = chosen.map((track, at) =>
    line(
      track,
      at,
      weeks
        .filter((week) => week.music_id === track.music_id)
        .map((week) => ({ at: Date.parse(week.week), value: week.until_then })),
    ),
  );
  const gained = chosen.map((track, at) =>
    line(
      track,
      at,
      growth
        .get(track.music_id)
        .map((point) => ({ at: Date.parse(point.observed_at), value: point.growth.gained.digg_count })),
    ),
  );
  return html`
    <${Card}
      title=${t("compare.figures")}
      aside=${html`
        <a
          class="small"
          href=${link(["sql", "compare-tracks"], { "p.music_ids": chosen.map((track) => track.music_id).join(",") })}
        >
          ${t("genealogy.query")}
        </a>
      `}
    >
      <p class="small soft">${t("compare.note")}</p>
      <${Figures} chosen=${chosen} colors=${colors} />
    <//>
    <${Card} title=${t("compare.published")}>
      <${TimeLines} label=${t("compare.published")} unit=${t("col.videos")} series=${published} isContinuous isUtc />
      <p class="small soft">${t("compare.published_note")}</p>
    <//>
    <${Card} title=${t("compare.growth")}>
      <${TimeLines} label=${t("compare.growth")} unit=${t("stat.digg_count")} series=${gained} />
      <p class="small soft">${t("time.growth_note")}</p>
    <//>
    <${Card} title=${t("compare.shared")}><${Overlap} chosen=${chosen} shared=${shared} /><//>
  `;
}

function Figures({ chosen, colors }) {
  return html`
    <div class="table-wrap short" tabindex="0" role="region" aria-label=${t("compare.figures")}>
      <table>
        <caption class="hidden">${t("compare.figures")}</caption>
        <thead>
          <tr>
            <td></td>
            ${chosen.map((track) => html`
              <th key=${track.music_id} scope="col" class="num side-by-side">
                <${Picture} kind="track" id=${track.music_id} name=${track.title} size="medium" />
                <br />
                <i class="swatch" style=${{ "--swatch": colors.get(track.music_id) }}></i>
                <a href=${link(["track", track.music_id])}>
                  <${Foreign} text=${track.title} none=${track.music_id} />
                </a>
                <div class="tiny soft"><${Foreign} text=${track.artist} none=${t("track.no_author")} /></div>
              </th>
            `)}
          </tr>
        </thead>
        <tbody>
          ${FIGURES.map(([name, figure]) => html`
            <tr key=${name}>
              <th scope="row">${t(`compare.${name}`)}</th>
              ${chosen.map((track) => html`<td key=${track.music_id} class="num">${figure(track)}</td>`)}
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}

// How many accounts use each pair of tracks, and which.
function Overlap({ chosen, shared }) {
  const both = (id, other) =>
    shared.filter((account) => account.music_ids.includes(id) && account.music_ids.includes(other)).length;
  const names = new Map(chosen.map((track) => [track.music_id, track.title ?? track.music_id]));
  const matrix = [
    {
      key: "name",
      label: t("compare.track"),
      class: "cell-name",
      value: (row) => names.get(row.music_id),
      render: (row) => html`
        <a href=${link(["track", row.music_id])}><${Foreign} text=${names.get(row.music_id)} /></a>
      `,
    },
    ...chosen.map((track) => ({
      key: track.music_id,
      label: html`<${Foreign} text=${names.get(track.music_id)} />`,
      num: true,
      value: (row) => (row === track ? row.accounts : both(row.music_id, track.music_id)),
      render: (row) =>
        row === track
          ? html`<span class="soft">${count(row.accounts)}</span>`
          : html`<b>${count(both(row.music_id, track.music_id))}</b>`,
    })),
  ];
  return html`
    <p class="small soft">${t("compare.shared_note")}</p>
    <${PlainTable} rows=${chosen} keyOf=${(row) => row.music_id} caption=${t("compare.shared")} columns=${matrix} />
    ${shared.length > 0 && html`
      <${PlainTable}
        rows=${shared.slice(0, 50)}
        keyOf=${(row) => row.sec_uid}
        caption=${t("compare.accounts_of_several")}
        columns=${[
          {
            key: "name",
            label: t("col.account"),
            class: "cell-name",
            value: (row) => row.nickname ?? row.sec_uid,
            render: (row) => html`
              <a href=${link(["profile"], { id: row.sec_uid })}>
                <${Foreign} text=${row.nickname} none=${row.sec_uid.slice(0, 18)} />
              </a>
            `,
          },
          {
            key: "tracks",
            label: t("compare.tracks"),
            value: (row) => row.music_ids.map((id) => names.get(id)).join(" · "),
          },
          { key: "videos", label: t("compare.videos_of"), num: true, value: (row) => row.work_count },
        ]}
      />
    `}
  `;
}
