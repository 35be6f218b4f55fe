// The result of a scan: summary, tabs, the ranking with its filters, accounts, variants and the search by name.
import { address, PATHS, request, unlessAborted } from "../../api.js";
import { compact, count, day, Foreign, published } from "../../format.js";
import { html, useEffect, useMemo, useState } from "../../html.js";
import { either, labelOf, t, termNames, termsOf } from "../../i18n.js";
import { limitsOf } from "../../limits.js";
import { go, link, replaceAddress, useAddress } from "../../router.js";
import { ExportMenu, SaveRows } from "../../parts/export.js";
import { NotePad } from "../../parts/notes.js";
import { Picture } from "../../parts/picture.js";
import { PlayButton } from "../../parts/play_button.js";
import { PARTS, viewParts } from "../../parts/scan_request.js";
import { ColumnChoice, narrow, PlainTable, Table, useMedia } from "../../parts/table.js";
import { Term } from "../../parts/term.js";
import {
  Badge,
  CheckField,
  Empty,
  ErrorNote,
  Figures,
  Loading,
  Panel,
  Prose,
  SelectField,
  Tabs,
  TextField,
} from "../../parts/ui.js";
import { LinkBadge, VideoCard, VideoCell } from "../../parts/video.js";
import "../../messages/accounts.js";
import "../../messages/figures.js";
import "../../messages/page.js";
import "../../messages/result.js";
import "../../messages/scan.js";

const BORN = "born"; // by the birth of the sound, an order that only the page has

// The view that an address asks for; `own`: the parameters of the job.
function viewOf(query, own) {
  const isByBirth = query.sort === BORN;
  return {
    isByBirth,
    sort_by: query.sort && !isByBirth ? query.sort : own.sort_by,
    count: query.rows ? Number(query.rows) : own.count,
    viral_only: query.viral ? query.viral === "1" : own.viral_only,
    viral_threshold: query.threshold ? Number(query.threshold) : own.viral_threshold,
  };
}

// The result of a job in the order, length and filter of an address: {result, view, own, source, error, change}. The
// service ranks it; `source` is the path it is read from. `own`: the parameters of the job. `change(part, more)` goes
// to another view, with further parts of the address.
export function useView(job, query) {
  const own = job.parameters;
  const view = viewOf(query, own);
  const changed = Object.fromEntries(
    Object.values(PARTS)
      .filter((name) => view[name] !== own[name])
      .map((name) => [name, view[name]]),
  );
  const isOwn = !Object.keys(changed).length;
  const source = address(`${PATHS.jobList}/${job.job_id}/ranking`, changed);
  const [other, setOther] = useState(null); // the result in another view than that of the job
  const [error, setError] = useState(null);
  useEffect(() => {
    setError(null); // of a view that is left
    if (isOwn) {
      setOther(null);
      return undefined;
    }
    const stopping = new AbortController();
    request(source, { signal: stopping.signal }).then(
      (envelope) => setOther(envelope.data.result),
      unlessAborted(setError),
    );
    return () => stopping.abort();
  }, [source]);
  const change = (part, more) => {
    const next = { ...view, ...part };
    go(["job", job.job_id], { ...query, ...more, ...viewParts(next, own), ...(next.isByBirth && { sort: BORN }) });
  };
  return { result: other ?? job.result, view, own, source, error, change };
}

const TABS = { ranking: Ranking, accounts: Accounts, variants: Variants, related: Related };
// These tabs are loaded when they are opened.
const LATER = {
  plots: async () => (await import("./plots.js")).Plots,
  genealogy: async () => (await import("./genealogy.js")).Genealogy,
  comparisons: async () => (await import("./comparisons.js")).Comparisons,
  coverage: async () => (await import("./coverage.js")).Coverage,
};
function Later({ name, ...props }) {
  const [Component, setComponent] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    LATER[name]().then((component) => setComponent(() => component), setError);
  }, [name]);
  if (error) return html`<${ErrorNote} error=${error} onRetry=${() => location.reload()} />`;
  return Component ? html`<${Component} ...${props} />` : html`<${Loading} tall />`;
}

const OLD_TABS = { heard: "comparisons", picture: "plots" }; // names in addresses that were saved before

export function Result({ job, query }) {
  const viewed = useView(job, query);
  const { result } = viewed;
  const isByName = result.keyword !== null;
  const first = isByName ? "related" : "ranking";
  const tab = OLD_TABS[query.tab] ?? query.tab ?? first;
  const Tab = TABS[tab] ?? (LATER[tab] && Later);
  // a new history entry, so that Back returns to the previous tab
  const choose = (name) => go(["job", job.job_id], { ...query, tab: name === first ? "" : name });
  const tabs = [
    !isByName && ["ranking", t("tab.ranking"), count(result.returned_count)],
    !isByName && ["accounts", t("tab.accounts"), count(result.unique_account_count)],
    !isByName && ["plots", t("tab.plots")],
    !isByName && ["genealogy", t("tab.genealogy")],
    !isByName && ["variants", t("tab.variants"), count(result.variants.count)],
    ["related", t("tab.related"), count(result.search_related.returned_count)],
    !isByName && ["comparisons", t("tab.comparisons")],
    ["coverage", t("tab.coverage")],
  ].filter(Boolean);
  return html`
    <${Summary} result=${result} isByName=${isByName} job=${job} />
    <${Tabs} tabs=${tabs} chosen=${tab} onChoose=${choose} label=${t("tab.label")} />
    <${Panel} name=${tab}>
      ${Tab && html`<${Tab} key=${tab} name=${tab} ...${{ job, query, viewed, result, isByName }} />`}
    <//>
  `;
}

const sourceOf = (job) => `${PATHS.jobs}/${job.job_id}`;

// The estimated number of music ids; nothing for results of earlier versions.
function estimateFigure({ estimates }) {
  if (!estimates) return null;
  const { point, interval_95: interval } = estimates.music_ids;
  return (
    point !== null && [
      t("fig.music_ids"),
      count(Math.round(point)),
      t("fig.music_ids_note", { lower: count(interval[0]), upper: count(interval[1]) }),
      html`<${Term} names=${["estimate"]} />`,
    ]
  );
}

function Summary({ result, isByName, job }) {
  const history = result.discovery?.confirmed_graph_observation_history;
  const related = result.search_related;
  const term = (name) => html`<${Term} names=${[name]} />`;
  const items = isByName
    ? [
        [t("fig.related"), count(related.returned_count)],
        [t("fig.high_relevance"), count(related.high_relevance_count), t("fig.high_relevance_note")],
        [t("fig.expanded"), count(related.expanded_candidate_count)],
        [t("fig.pages"), count(related.pagination.pages_fetched)],
      ]
    : [
        [
          t("fig.confirmed"),
          count(result.confirmed_count),
          history && t("fig.new", { number: count(history.new_confirmed_count) }),
          term("confirmed"),
        ],
        [t("fig.accounts"), count(result.unique_account_count), t("fig.at_least")],
        [t("fig.shown"), count(result.returned_count), t("fig.of_asked", { number: count(result.requested_count) })],
        [t("fig.pool"), count(result.candidate_pool_size), "", term("candidate")],
        [t("fig.variants"), count(result.variants.count), t("fig.variants_note"), term("variant")],
        estimateFigure(result.coverage),
      ];
  return html`
    <div class="stack">
      ${!isByName && result.music && html`
        <div class="row small">
          <${Picture} kind="track" id=${result.music_id} name=${result.music.title} />
          <span><${Foreign} text=${result.music.author} none=${t("track.no_author")} /></span>
          <span class="mono soft">${result.music_id}</span>
          ${result.music.created_at && html`
            <span class="soft">${t("track.born", { day: day(result.music.created_at) })}</span>
          `}
          ${result.music.born_with && html`
            <span class="soft">
              ${t("track.born_with")} <span class="mono">${result.music.born_with.aweme_id}</span>
            </span>
          `}
          <a href=${link(["time", "track", result.music_id])}>${t("track.over_time")}</a>
          <a href=${link(["compare"], { ids: result.music_id })}>${t("track.compare")}</a>
          <${NotePad} kind="track" id=${result.music_id} />
        </div>
      `}
      <${Figures} items=${items} />
      ${isByName && html`
        <div class="note info"><h2>${t("result.by_name")}</h2><p>${t("result.by_name_hint")}</p></div>
      `}
      <${Notes} notes=${[...fewerNote(result, isByName), ...job.notes]} />
    </div>
  `;
}

// A note on what to do if there are fewer rows than requested; the figures show the numbers.
function fewerNote(result, isByName) {
  if (result.count_satisfied || isByName) return [];
  const got = { got: count(result.returned_count), asked: count(result.requested_count) };
  return [
    {
      type: "fewer",
      message: `${t("result.fewer", got)}. ${t("result.fewer_hint")}`,
      message_zh: `${t("result.fewer", got)}。${result.count_note_zh ?? t("result.fewer_hint")}`,
    },
  ];
}

function Notes({ notes }) {
  if (!notes.length) return html`<p class="small soft">${t("result.never_all")}</p>`;
  return html`
    <details class="fold small">
      <summary>${t("result.never_all")} ${t("result.notes", { number: count(notes.length) })}</summary>
      <ul class="plain soft">
        ${notes.map((note) => html`
          <li key=${note.type}><${Prose} text=${either(note.message, note.message_zh)} /></li>
        `)}
      </ul>
    </details>
  `;
}

function Accounts({ job }) {
  const accounts = job.result.account_summary.accounts;
  const columns = [
    {
      key: "name",
      label: t("col.account"),
      class: "cell-title",
      render: (row) => html`
        <span class="with-picture">
          <${Picture} kind="account" id=${row.sec_uid} name=${row.nickname} />
          <span>
            <a href=${link(["profile"], { id: row.sec_uid })}>
              <${Foreign} text=${row.nickname} none=${row.sec_uid.slice(0, 18)} />
            </a>
            <div class="tiny soft"><${Foreign} text=${row.unique_id} /></div>
          </span>
        </span>
      `,
    },
    { key: "linked", label: t("col.linked"), num: true, render: (row) => count(row.linked_video_count) },
    { key: "likes", label: t("col.linked_likes"), num: true, render: (row) => count(row.linked_digg_count) },
    { key: "comments", label: t("stat.comment_count"), num: true, render: (row) => count(row.linked_comment_count) },
    { key: "collects", label: t("stat.collect_count"), num: true, render: (row) => count(row.linked_collect_count) },
    { key: "shares", label: t("stat.share_count"), num: true, render: (row) => count(row.linked_share_count) },
    { key: "followers", label: t("stat.follower_count"), num: true, render: (row) => count(row.follower_count) },
    { key: "total", label: t("stat.total_favorited"), num: true, render: (row) => count(row.total_favorited) },
    { key: "works", label: t("stat.aweme_count"), num: true, render: (row) => count(row.aweme_count) },
    {
      key: "top",
      label: t("col.top"),
      class: "cell-name",
      render: (row) => html`
        <span class="two-lines"><${Foreign} text=${row.top_video?.desc} none=${row.top_video?.aweme_id} /></span>
      `,
    },
  ];
  if (!accounts.length)
    return html`<${Empty} title=${t("accounts.empty")} icon="person">${t("accounts.empty_hint")}<//>`;
  const card = (row) => html`
    <${Picture} kind="account" id=${row.sec_uid} name=${row.nickname} />
    <div class="stack tight">
      <a href=${link(["profile"], { id: row.sec_uid })} class="one-line">
        <${Foreign} text=${row.nickname} none=${row.sec_uid} />
      </a>
      <div class="meta">
        <span><${Foreign} text=${row.unique_id} /></span>
        <span>${t("col.linked")} <b>${count(row.linked_video_count)}</b></span>
      </div>
      <div class="meta">
        <span>${t("stat.digg_count")} <b>${compact(row.linked_digg_count)}</b></span>
        <span>${t("stat.follower_count")} <b>${compact(row.follower_count)}</b></span>
      </div>
    </div>
  `;
  return html`
    <div class="row apart">
      <p class="small soft">${t("accounts.note")}</p>
      <${ExportMenu} source=${sourceOf(job)} table="accounts" />
    </div>
    <${Table}
      rows=${accounts}
      columns=${columns}
      keyOf=${(row) => row.sec_uid}
      caption=${t("tab.accounts")}
      card=${card}
    />
  `;
}

function Variants({ viewed }) {
  const {
    result: { variants },
    view,
    source,
    error,
    change,
  } = viewed;
  if (!variants.count) return html`<${Empty} title=${t("variants.empty")}>${t("variants.empty_hint")}<//>`;
  const videos = view.isByBirth ? byBirth(variants.aweme_list) : variants.aweme_list;
  const columns = [
    { key: "video", label: t("col.video"), class: "cell-title", render: (row) => html`<${VideoCell} video=${row} />` },
    {
      key: "kind",
      label: t("col.kind"),
      render: (row) => html`<${Badge} tone="warn">${labelOf("variant", row.variant_kind)}<//>`,
    },
    { key: "speed", label: t("col.speed"), num: true, render: (row) => `× ${row.speed?.toFixed(2) ?? "—"}` },
    {
      key: "semitones",
      label: t("col.semitones"),
      num: true,
      render: (row) => (row.semitones === null ? "—" : (row.semitones > 0 ? "+" : "") + row.semitones.toFixed(1)),
    },
    bornColumn(),
    { key: "likes", label: t("stat.digg_count"), num: true, render: (row) => count(row.statistics.digg_count) },
    { key: "hot", label: t("stat.hot_score"), num: true, render: (row) => count(row.hot_score) },
    {
      key: "hear",
      label: t("col.evidence"),
      render: (row) =>
        row.evidence && html`
          <${PlayButton} id=${row.evidence.comparison_id} />${" "}
          <a href=${link(["evidence", row.evidence.comparison_id])}>${t("act.open")}</a>
        `,
    },
  ];
  return html`
    <div class="row apart">
      <p class="small soft">${t("variants.note")}</p>
      <${ExportMenu} source=${source} table="variants" />
    </div>
    <div class="row">
      <${ViralField} viewed=${viewed} />
      <span class="small soft" role="status">
        ${t("ranking.rows", { shown: count(videos.length), all: count(variants.count) })}
      </span>
      <${MoreRows} viewed=${viewed} rowCount=${videos.length} most=${variants.count} />
    </div>
    <${ErrorNote} error=${error} />
    ${videos.length ? html`
      <${Table}
        rows=${videos}
        columns=${columns}
        keyOf=${(row) => row.aweme_id}
        caption=${t("tab.variants")}
        order=${view.isByBirth ? BORN : view.sort_by}
        onOrder=${(order) => change({ isByBirth: order === BORN && !view.isByBirth })}
        card=${(row) => html`<${VideoCard} video=${row} />`}
      />
    ` : html`<${Empty} title=${t("filter.none")} icon="search" />`}
  `;
}

const RELEVANCE_TONES = {
  exact_title: "good",
  music_id_corroborated: "good",
  conflicting_music_title: "warn",
  expanded_candidate: "",
};
function Related({ job, isByName, query }) {
  const related = job.result.search_related;
  const [level, setLevel] = useAddress(["job", job.job_id], query, "level");
  const rows = related.aweme_list.filter((video) => !level || video.search_relevance_level === level);
  const columns = [
    { key: "video", label: t("col.video"), class: "cell-title", render: (row) => html`<${VideoCell} video=${row} />` },
    {
      key: "level",
      label: t("col.relevance"),
      render: (row) => html`
        <${Badge} tone=${RELEVANCE_TONES[row.search_relevance_level] ?? ""}>
          ${labelOf("relevance", row.search_relevance_level)}
        <//>
      `,
    },
    {
      key: "author",
      label: t("col.account"),
      class: "cell-name",
      render: (row) => html`<span class="one-line"><${Foreign} text=${row.author?.nickname} /></span>`,
    },
    { key: "likes", label: t("stat.digg_count"), num: true, render: (row) => count(row.statistics.digg_count) },
    { key: "hot", label: t("stat.hot_score"), num: true, render: (row) => count(row.hot_score) },
    { key: "date", label: t("col.published"), num: true, render: (row) => published(row) },
    !isByName && {
      key: "both",
      label: t("col.also"),
      render: (row) => (row.duplicate_with_returned_ranking ? t("act.yes") : ""),
    },
  ].filter(Boolean);
  return html`
    <div class="row apart">
      <p class="small soft" style=${{ maxWidth: "70ch" }}>${t("related.note")}</p>
      <div class="row">
        ${rows.length < related.aweme_list.length &&
        html`<${SaveRows} rows=${rows} name="related" table="search_related" />`}
        <${ExportMenu}
          source=${sourceOf(job)}
          table="search_related"
          label=${
            rows.length < related.aweme_list.length
              ? t("export.unfiltered", { number: count(related.aweme_list.length) })
              : undefined
          }
        />
      </div>
    </div>
    <div class="row" role="group" aria-label=${t("col.relevance")}>
      ${["", ...termNames("relevance")].map((name) => html`
        <button
          type="button"
          key=${name}
          class="button little"
          aria-pressed=${String(level === name)}
          onClick=${() => setLevel(name)}
        >
          ${name ? labelOf("relevance", name) : t("act.all")}${" "}
          <span class="soft">
            ${count(
              name
                ? related.aweme_list.filter((video) => video.search_relevance_level === name).length
                : related.aweme_list.length,
            )}
          </span>
        </button>
      `)}
    </div>
    ${rows.length ? html`
      <${Table}
        rows=${rows}
        columns=${columns}
        keyOf=${(row) => row.aweme_id}
        caption=${t("tab.related")}
        card=${(row) => html`<${VideoCard} video=${row} />`}
      />
    ` : related.aweme_list.length ? html`<${Empty} title=${t("filter.none")} icon="search" />` : html`
      <${Empty} title=${t("related.empty")} icon="search">${t("related.empty_hint")}<//>
    `}
    <h2>${t("related.terms")}</h2>
    <${PlainTable}
      rows=${related.pagination.terms}
      keyOf=${(row) => row.term}
      caption=${t("related.terms")}
      columns=${[
        { key: "term", label: t("col.term"), render: (row) => html`<${Foreign} text=${row.term} />` },
        { key: "pages", label: t("col.pages"), num: true, render: (row) => count(row.pages) },
        { key: "items", label: t("col.items"), num: true, render: (row) => count(row.items) },
        { key: "new", label: t("col.new"), num: true, render: (row) => count(row.new_items) },
        { key: "cursor", label: t("col.cursor"), num: true, render: (row) => count(row.last_cursor) },
        { key: "stop", label: t("col.stop"), render: (row) => labelOf("stop", row.stop_reason) },
      ]}
    />
  `;
}

// The choice of columns while the page is open. On a narrower screen columns that would push others out of sight are
// hidden at first, too.
const choice = {
  hidden: ["collect", "share", "born", "music", "observed", ...(innerWidth < 1320 ? ["comment", "note"] : [])],
};

// The filters of the address.
function filterOf(query) {
  return { link: query.link ?? "", music: query.music ?? "", account: query.account ?? "" };
}

function Ranking({ job, query, viewed }) {
  const [hidden, setHidden] = useState(choice.hidden);
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
            options=${[["", t("act.all")], ...termNames("link").map((name) => [name, labelOf("link", name)])]}
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
            <${MoreRows} viewed=${viewed} rowCount=${result.returned_count} most=${result.confirmed_count} />
            <${ColumnChoice}
              columns=${allColumns()}
              hidden=${hidden}
              onChange=${(next) => {
                choice.hidden = next;
                setHidden(next);
              }}
            />
            ${(isPart || view.isByBirth) && html`<${SaveRows} rows=${rows} name="videos" table="videos" />`}
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

// Whether only viral videos are shown; from how many likes a video is one, if that is not the threshold of the scan.
function ViralField({ viewed: { view, own, change } }) {
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

// Asks for more rows if the view may have left some out: it has `rowCount` of up to `most`.
function MoreRows({ viewed: { result, view, change }, rowCount, most }) {
  const limit = Math.min(most, limitsOf("count")?.maximum ?? most);
  if (rowCount < result.requested_count || rowCount >= limit) return null;
  return html`
    <button type="button" class="button little" onClick=${() => change({ count: limit })}>
      ${t(view.viral_only || limit < most ? "ranking.more_up_to" : "ranking.more", { number: count(limit) })}
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
  const name = filter.account.trim().toLocaleLowerCase();
  return videos.filter(
    (video) =>
      (!filter.link || video.link_type === filter.link) &&
      (!filter.music || video.source_music_id === filter.music) &&
      (!name ||
        [video.author?.nickname, video.author?.unique_id, video.author?.sec_uid].some((part) =>
          part?.toLocaleLowerCase().includes(name),
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
      label: t("stat.hot_score"),
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
      label: t("stat.digg_count"),
      num: true,
      sort: "digg",
      render: (row) => html`
        ${row.is_viral && html`<${Badge} tone="warn" bare>${t("filter.viral_short")}<//>${" "}`}
        ${count(row.statistics.digg_count)}
      `,
    },
    {
      key: "comment",
      label: t("stat.comment_count"),
      num: true,
      sort: "comment",
      render: (row) => count(row.statistics.comment_count),
    },
    {
      key: "collect",
      label: t("stat.collect_count"),
      num: true,
      sort: "collect",
      render: (row) => count(row.statistics.collect_count),
    },
    {
      key: "share",
      label: t("stat.share_count"),
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

function bornColumn() {
  return {
    key: BORN,
    label: t("col.born"),
    num: true,
    sort: BORN,
    ascends: true,
    render: (row) => day(row.music?.created_at),
  };
}

// Videos by the birth of their sounds, originals before their copies; unknown births come last.
function byBirth(videos) {
  const born = (video) => (video.music?.created_at ? Date.parse(video.music.created_at) : Infinity);
  return [...videos].sort((video, other) => (born(video) === born(other) ? 0 : born(video) - born(other)));
}
