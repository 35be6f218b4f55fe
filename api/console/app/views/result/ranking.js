// The ranking: sort orders and rows of a view (`view.js`), filters, column choice.
import { Foreign, byBirth, compact, count, day, published, safeLink } from "../../format.js";
import { html, useMemo, useState } from "../../html.js";
import { labelOf, t, termsOf } from "../../i18n.js";
import { Badge, CheckField, Empty, ErrorNote, SelectField, TextField } from "../../parts/ui.js";
import { ColumnChoice, Table, narrow, useMedia } from "../../parts/table.js";
import { ExportMenu, SaveRows } from "../../parts/export.js";
import { Picture } from "../../parts/picture.js";
import { NotePad } from "../../parts/notes.js";
import { PlayButton } from "../../parts/sound/play.js";
import { go, link, replaceAddress } from "../../router.js";
import { BORN } from "./view.js";
import "../../messages/accounts.js";
import "../../messages/page.js";
import "../../messages/result.js";
import "../../messages/scan.js";

const LINK_TONES = { exact_music_id: "info", audio_fingerprint_match: "good", verified_music_id_graph: "accent" };
const MOST_ROWS = 500;
// Columns that are hidden until they are chosen: on a narrower screen those, too, that would push others out of sight.
const KEPT = {
  hidden: ["collect", "share", "born", "music", "observed", ...(innerWidth < 1320 ? ["comment", "note"] : [])],
};

// What the address says about the rows of a view.
function filterOf(query) {
  return { link: query.link ?? "", music: query.music ?? "", account: query.account ?? "" };
}

export function Ranking({ job, query, viewed }) {
  const [hidden, setHidden] = useState(KEPT.hidden);
  const { result, view, source, error, change } = viewed;
  const filter = filterOf(query);
  const choose = (part, move = go) => move(["job", job.job_id], { ...query, ...part });
  const rows = useMemo(
    () => (view.isByBirth ? byBirth(filtered(result.aweme_list, filter)) : filtered(result.aweme_list, filter)),
    [result, query],
  );
  const isPart = rows.length < result.aweme_list.length;
  const columns = allColumns().filter((column) => column.always || !hidden.includes(column.key));
  const musics = useMemo(
    () => [...new Map(result.aweme_list.map((video) => [video.source_music_id, video.source_music_title]))],
    [result],
  );
  if (!job.result.confirmed_count) return html`<${Empty} title=${t("ranking.empty")}>${t("ranking.empty_hint")}<//>`;
  return html`
    <div class="stack">
      <${Tools}
        fields=${html`
          <${SelectField}
            label=${t("param.sort_by")}
            value=${view.sort_by}
            options=${termsOf("sort", view.sort_by)}
            onChange=${(value) => change({ sort_by: value, isByBirth: false })}
          />
          <${SelectField}
            label=${t("filter.link")}
            value=${filter.link}
            options=${[["", t("act.all")], ...Object.keys(LINK_TONES).map((name) => [name, labelOf("link", name)])]}
            onChange=${(value) => choose({ link: value })}
          />
          <${SelectField}
            label=${t("filter.music")}
            value=${filter.music}
            options=${[
              ["", t("act.all")],
              ...musics.map(([id, title]) => [id, `${(title ?? "").slice(0, 40)} · ${id}`]),
            ]}
            onChange=${(value) => choose({ music: value })}
          />
          <${TextField}
            label=${t("filter.account")}
            value=${filter.account}
            onInput=${(value) => choose({ account: value }, replaceAddress)}
          />
        `}
      >
        <div class="row apart">
          <div class="row">
            <${ViralField} viewed=${viewed} />
            <span class="small soft" role="status">
              ${t("ranking.rows", { shown: count(rows.length), all: count(result.aweme_list.length) })}
            </span>
          </div>
          <div class="row">
            <${MoreRows} viewed=${viewed} shown=${result.returned_count} most=${result.confirmed_count} />
            <${ColumnChoice}
              columns=${allColumns()}
              hidden=${hidden}
              onChange=${(next) => {
                KEPT.hidden = next;
                setHidden(next);
              }}
            />
            ${(isPart || view.isByBirth) && html`<${SaveRows} rows=${rows} name="videos" />`}
            <${ExportMenu}
              source=${source}
              table="videos"
              label=${isPart ? t("export.unfiltered", { number: count(result.aweme_list.length) }) : undefined}
            />
          </div>
        </div>
      <//>
      <${ErrorNote} error=${error} />
      ${rows.length ? html`
        <${Table}
          rows=${rows}
          columns=${columns}
          keyOf=${(row) => row.aweme_id}
          caption=${t("tab.ranking")}
          order=${view.isByBirth ? BORN : view.sort_by}
          onOrder=${(order) => change(order === BORN ? { isByBirth: true } : { sort_by: order, isByBirth: false })}
          card=${(video) => html`<${VideoCard} video=${video} />`}
        />
      ` : html`
        <${Empty} title=${t("filter.none")} icon="search">
          <button
            type="button"
            class="button little"
            onClick=${() => change({ viral_only: false }, { link: "", music: "", account: "" })}
          >
            ${t("filter.clear")}
          </button>
        <//>
      `}
    </div>
  `;
}

// Whether only viral videos are shown; from how many likes a video is one, if that is not as the scan was asked for.
export function ViralField({ viewed: { view, own, change } }) {
  return html`
    <${CheckField}
      label=${t("filter.viral")}
      hint=${
        view.viral_threshold !== own.viral_threshold && t("filter.viral_from", { number: count(view.viral_threshold) })
      }
      value=${view.viral_only}
      onChange=${(isOnly) => change({ viral_only: isOnly })}
    />
  `;
}

// Asks for more rows if the view may have left some out: `shown` rows of a list that has up to `most`.
export function MoreRows({ viewed: { result, view, change }, shown, most }) {
  const wanted = Math.min(most, MOST_ROWS);
  if (shown < result.requested_count || shown >= wanted) return null;
  return html`
    <button type="button" class="button little" onClick=${() => change({ count: wanted })}>
      ${t(view.viral_only || wanted < most ? "ranking.more_up_to" : "ranking.more", { number: count(wanted) })}
    </button>
  `;
}

// Filters and what can be done with the rows. On a phone they are folded, so that the first rows are on the first
// screen.
function Tools({ fields, children }) {
  const isNarrow = useMedia(narrow);
  const whole = html`<div class="beside"><div class="grid pair">${fields}</div>${children}</div>`;
  return isNarrow ? html`
    <details class="fold no-print"><summary>${t("filter.choose")}</summary>${whole}</details>
  ` : whole;
}

function filtered(videos, filter) {
  const wanted = filter.account.trim().toLocaleLowerCase();
  return videos.filter(
    (video) =>
      (!filter.link || video.link_type === filter.link) &&
      (!filter.music || video.source_music_id === filter.music) &&
      (!wanted ||
        [video.author?.nickname, video.author?.unique_id, video.author?.sec_uid].some((name) =>
          name?.toLocaleLowerCase().includes(wanted),
        )),
  );
}

function allColumns() {
  return [
    { key: "rank", label: "#", num: true, always: true, render: (row) => html`<span class="rank">${row.rank}</span>` },
    {
      key: "video",
      label: t("col.video"),
      always: true,
      class: "cell-title",
      render: (row) => html`<${VideoCell} video=${row} />`,
    },
    {
      key: "author",
      label: t("col.account"),
      class: "cell-name",
      render: (row) => html`
        <a class="one-line" href=${link(["profile"], { id: row.author?.sec_uid })}>
          <${Foreign} text=${row.author?.nickname} none=${row.author?.unique_id ?? "—"} />
        </a>
      `,
    },
    {
      key: "hot",
      label: t("stat.hot"),
      num: true,
      sort: "hot_score",
      render: (row) => html`<b>${count(row.hot_score)}</b>`,
    },
    { key: "link", label: t("filter.link"), render: (row) => html`<${LinkBadge} video=${row} />` },
    {
      key: "evidence",
      label: t("col.evidence"),
      always: true,
      class: "nowrap",
      render: (row) =>
        row.evidence ? html`
          <${PlayButton} id=${row.evidence.comparison_id} />${" "}
          <a href=${link(["evidence", row.evidence.comparison_id])}>${t("act.open")}</a>
        ` : html`<a href=${link(["time", "video", row.aweme_id])}>${t("act.time")}</a>`,
    },
    {
      key: "digg",
      label: t("stat.likes"),
      num: true,
      sort: "digg",
      render: (row) => html`
        ${row.is_viral && html`<${Badge} tone="warn" bare>${t("filter.viral_short")}<//>${" "}`}
        ${count(row.statistics.digg_count)}
      `,
    },
    {
      key: "comment",
      label: t("stat.comments"),
      num: true,
      sort: "comment",
      render: (row) => count(row.statistics.comment_count),
    },
    {
      key: "collect",
      label: t("stat.collects"),
      num: true,
      sort: "collect",
      render: (row) => count(row.statistics.collect_count),
    },
    {
      key: "share",
      label: t("stat.shares"),
      num: true,
      sort: "share",
      render: (row) => count(row.statistics.share_count),
    },
    { key: "date", label: t("col.published"), num: true, sort: "latest", render: (row) => published(row) },
    bornColumn(),
    {
      key: "music",
      label: t("filter.music"),
      class: "cell-name",
      render: (row) => html`
        <span class="two-lines"><${Foreign} text=${row.source_music_title} /></span>
        ${row.music?.created_at && html`
          <div class="tiny soft">
            ${row.music.born_with ? t("track.born_here") : t("track.born", { day: day(row.music.created_at) })}
          </div>
        `}
      `,
    },
    { key: "observed", label: t("col.observed"), num: true, render: (row) => day(row.observed_at) },
    {
      key: "note",
      label: t("note.text"),
      render: (row) => html`<${NotePad} kind="video" id=${row.aweme_id} isShort />`,
    },
  ];
}

export function bornColumn() {
  return {
    key: BORN,
    label: t("col.born"),
    num: true,
    sort: BORN,
    ascends: true,
    render: (row) => day(row.music?.created_at),
  };
}

export function LinkBadge({ video }) {
  return html`<${Badge} tone=${LINK_TONES[video.link_type] ?? ""}>${labelOf("link", video.link_type)}<//>`;
}

export function VideoCell({ video }) {
  const address = safeLink(video.share_url);
  const text = html`<span class="two-lines"><${Foreign} text=${video.desc} none=${video.aweme_id} /></span>`;
  return html`
    <span class="with-picture">
      <${Picture} kind="video" id=${video.aweme_id} name=${video.desc} />
      ${address ? html`
        <a href=${address} target="_blank" rel="noopener noreferrer" class="title-link">${text}</a>
      ` : text}
    </span>
  `;
}

export function VideoCard({ video }) {
  return html`
    <span class="rank">${video.rank ?? ""}</span>
    <div class="stack tight">
      <${VideoCell} video=${video} />
      <div class="meta">
        <span><${Foreign} text=${video.author?.nickname} /></span>
        <span>${t("stat.hot")} <b>${compact(video.hot_score)}</b></span>
        <span>${t("stat.likes")} <b>${compact(video.statistics?.digg_count)}</b></span>
      </div>
      <div class="meta">
        ${video.variant_kind && html`<${Badge} tone="warn">${labelOf("variant", video.variant_kind)}<//>`}
        ${video.link_type && html`<${LinkBadge} video=${video} />`}
        ${video.search_relevance_level && html`<${Badge}>${labelOf("relevance", video.search_relevance_level)}<//>`}
        ${video.evidence && html`
          <${PlayButton} id=${video.evidence.comparison_id} />
          <a href=${link(["evidence", video.evidence.comparison_id])}>${t("act.show_evidence")}</a>
        `}
      </div>
    </div>
  `;
}
