// The ranking of a scan: its order and filters, the notice on hotter variants, its rows, and what can be done with
// chosen ones.
import { count, day, Foreign, published } from "../../format.js";
import { html, useEffect, useMemo, useState } from "../../html.js";
import { labelOf, t, termNames, termsOf } from "../../i18n.js";
import { limitsOf } from "../../limits.js";
import { go, link, replaceAddress } from "../../router.js";
import { changeTable, tableChoices } from "../../state.js";
import { ExportMenu, fileView, SaveRows } from "../../parts/export.js";
import { NotePad, TagButton } from "../../parts/notes.js";
import { ColumnChoice, narrow, sortRows, Table, useMedia } from "../../parts/table.js";
import { Term } from "../../parts/term.js";
import { Badge, CheckField, Empty, ErrorNote, Pop, SelectField, TextField } from "../../parts/ui.js";
import { AudioCheck, hashtagsColumn, LinkBadge, VideoCard, VideoCell } from "../../parts/video.js";
import { WatchSeveral } from "../../parts/watch.js";
import { CompareVideos } from "./compare_videos.js";
import { formsText, totalsText } from "./summary.js";
import "../../messages/accounts.js";
import "../../messages/figures.js";
import "../../messages/page.js";
import "../../messages/result.js";
import "../../messages/scan.js";
import "../../messages/watchlists.js";

const NAME = "ranking"; // of the choice of columns in the browser
const WIDE_PX = 1800;
const usualColumns = () => (innerWidth >= WIDE_PX ? ["link", "note"] : []);

// The filters of the address.
function filterOf(query) {
  return { link: query.link ?? "", music: query.music ?? "", account: query.account ?? "" };
}
const NO_FILTER = { link: "", music: "", account: "" };

export function Ranking({ job, query, viewed }) {
  const [chosenIds, setChosenIds] = useState([]);
  const { result, view, source, error, change, order, setOrder } = viewed;
  const filter = filterOf(query);
  const choose = (part, move = go) => move(["job", job.job_id], { ...query, ...part });
  const [further, setFurther] = useFurtherColumns(query, choose);
  const columns = allColumns().filter((column) => !column.further || further.includes(column.key));
  const videos = useMemo(
    () => sortRows(filtered(result.aweme_list, filter), allColumns(), view.page_order),
    [result, query],
  );
  if (!job.result.confirmed_count && !job.result.variants.count)
    return html`<${Empty} title=${t("ranking.empty")}>${t("ranking.empty_hint")}<//>`;
  const chosen = videos.filter((video) => chosenIds.includes(video.aweme_id));
  const flip = (id) =>
    setChosenIds(chosenIds.includes(id) ? chosenIds.filter((other) => other !== id) : [...chosenIds, id]);
  return html`
    <div class="stack ranking">
      <${HotterVariants} result=${result} view=${view} change=${change} />
      <${Tools}>
        <${OrderField} ...${{ order, setOrder, view }} />
        <${ViralChip} viewed=${viewed} />
        <${FilterChip} result=${result} filter=${filter} choose=${choose} />
        ${result.variants.count > 0 && html`
          <span class="row tight">
            <${CheckField}
              label=${t("variants.include", { number: count(result.variants.count) })}
              value=${view.include_variants}
              onChange=${(isOn) => change({ include_variants: isOn })}
            />
            <${Term} names=${["variant"]} />
          </span>
        `}
        <span class="small soft" role="status">
          ${t("ranking.rows", { shown: count(videos.length), all: count(result.aweme_list.length) })}
          ${result.totals.includes_variants && ` · ${t("variants.included", { totals: totalsText(result.totals) })}`}
        </span>
        <span class="row end-aligned">
          <${MoreRows}
            viewed=${viewed}
            rowCount=${result.returned_count}
            most=${result.totals.includes_variants ? result.totals.video_count : result.confirmed_count}
          />
          <${ColumnChoice}
            columns=${allColumns().filter((column) => column.further)}
            hidden=${furtherKeys().filter((key) => !further.includes(key))}
            onChange=${(hidden) => setFurther(furtherKeys().filter((key) => !hidden.includes(key)))}
          />
          <${ExportMenu} source=${source} table="videos" view=${fileView(query, { columns, isSource: true })} />
        </span>
      <//>
      ${chosen.length > 0 && html`<${Chosen} videos=${chosen} onClear=${() => setChosenIds([])} />`}
      <${ErrorNote} error=${error} />
      ${videos.length ? html`
        <${Table}
          name=${NAME}
          rowClass=${(video) => (video.variant_kind ? "variant" : "")}
          rows=${videos}
          columns=${[pickColumn(videos, chosenIds, { flip, setChosenIds }), ...columns]}
          keyOf=${(video) => video.aweme_id}
          caption=${t("tab.ranking")}
          order=${order}
          onOrder=${setOrder}
          card=${(video) => html`
            <${VideoCard}
              video=${video}
              pick=${html`<${Pick} video=${video} chosenIds=${chosenIds} flip=${flip} />`}
            />
          `}
        />
      ` : html`<${NoRows} viewed=${viewed} filter=${filter} />`}
    </div>
  `;
}

// Above the ranking while variants are hotter than its first place, and not part of it.
function HotterVariants({ result, view, change }) {
  const { hotter } = result.variants;
  if (!hotter.count || view.include_variants) return null;
  const more = { forms: formsText(hotter.by_form), scores: hotter.hot_scores.map(count).join(", ") };
  return html`
    <p class="notice small" role="note">
      ${t(hotter.count === 1 ? "variants.hotter_one" : "variants.hotter", more)}
      <button type="button" class="button little" onClick=${() => change({ include_variants: true })}>
        ${t("variants.rank_them")}
      </button>
    </p>
  `;
}

// The orders of the service, and that of the column by which the page sorts.
function OrderField({ order, setOrder, view }) {
  const column = view.page_order && allColumns().find(({ key }) => key === order.replace(/^-/, ""));
  return html`
    <${SelectField}
      label=${t("param.sort_by")}
      value=${order}
      options=${[...termsOf("sort", view.sort_by), ...(column ? [[order, column.label]] : [])]}
      onChange=${setOrder}
    />
  `;
}

// From how many likes a video is viral, and whether only viral ones are shown.
export function ViralChip({ viewed: { result, view, own, change } }) {
  const text = t("viral.from", { number: count(view.viral_threshold) });
  const most = result.totals.max_digg_count;
  const [typed, setTyped] = useState(null); // a number that is not applied yet
  const least = limitsOf("viral_threshold")?.minimum ?? undefined;
  const apply = (event) => {
    event.preventDefault();
    if (typed !== null && typed !== "") change({ viral_threshold: Number(typed) });
    setTyped(null);
  };
  return html`
    <${Pop} label=${`${text} ▾`} isOn=${view.viral_only || view.viral_threshold !== own.viral_threshold}>
      <${CheckField}
        label=${t("filter.viral")}
        value=${view.viral_only}
        onChange=${(isOnly) => change({ viral_only: isOnly })}
      />
      <form class="stack tight" onSubmit=${apply}>
        <${TextField}
          label=${t("viral.threshold")}
          type="number"
          min=${least}
          step="1"
          value=${typed ?? view.viral_threshold}
          onInput=${setTyped}
          hint=${most === null ? t("viral.unknown") : t("viral.most", { most: count(most) })}
        />
        <button type="submit" class="button little">${t("act.apply")}</button>
      </form>
    <//>
  `;
}

// Filters of the rows, each shown while it is on, with a button that takes it off.
function FilterChip({ result, filter, choose }) {
  const musics = useMemo(
    () => [...new Map(result.aweme_list.map((video) => [video.source_music_id, video.source_music_title]))],
    [result],
  );
  const title = (id) => musics.find(([other]) => other === id)?.[1] ?? id;
  const active = [
    filter.link && ["link", labelOf("link", filter.link)],
    filter.music && ["music", title(filter.music)],
    filter.account && ["account", filter.account],
  ].filter(Boolean);
  return html`
    <${Pop} label=${`${t("filter.title")} ▾`} isOn=${active.length > 0}>
      <${SelectField}
        label=${t("filter.link")}
        value=${filter.link}
        options=${[["", t("act.all")], ...termNames("link").map((name) => [name, labelOf("link", name)])]}
        onChange=${(value) => choose({ link: value })}
      />
      <${SelectField}
        label=${t("filter.music")}
        value=${filter.music}
        options=${[["", t("act.all")], ...musics.map(([id, name]) => [id, `${(name ?? "").slice(0, 40)} · ${id}`])]}
        onChange=${(value) => choose({ music: value })}
      />
      <${TextField}
        label=${t("filter.account")}
        value=${filter.account}
        onInput=${(value) => choose({ account: value }, replaceAddress)}
      />
    <//>
    ${active.map(([name, text]) => html`
      <button
        type="button"
        key=${name}
        class="button little on"
        aria-label=${t("filter.remove", { name: text })}
        onClick=${() => choose({ [name]: "" })}
      >
        <bdi class="one-line">${text.slice(0, 30)}</bdi> ×
      </button>
    `)}
  `;
}

// Why there is no row, with the most likes that a video has, and a way back.
function NoRows({ viewed: { result, view, change }, filter }) {
  const most = result.totals.max_digg_count;
  const isViral = view.viral_only && !Object.values(filter).some(Boolean);
  const title = isViral ? t("viral.none", { number: count(view.viral_threshold) }) : t("filter.none");
  return html`
    <${Empty} title=${title} icon="search">
      ${isViral && html`<p>${most === null ? t("viral.unknown") : t("viral.most", { most: count(most) })}</p>`}
      <button type="button" class="button little" onClick=${() => change({ viral_only: false }, NO_FILTER)}>
        ${t("filter.clear")}
      </button>
    <//>
  `;
}

// Asks for more rows if the view may have left some out: it has `rowCount` of up to `most`.
export function MoreRows({ viewed: { result, view, change }, rowCount, most }) {
  const limit = Math.min(most, limitsOf("count")?.maximum ?? most);
  if (rowCount < result.requested_count || rowCount >= limit) return null;
  return html`
    <button type="button" class="button little" onClick=${() => change({ count: limit })}>
      ${t(view.viral_only || limit < most ? "ranking.more_up_to" : "ranking.more", { number: count(limit) })}
    </button>
  `;
}

// Order and filters in one line. On a phone they are folded, so that the first rows are on the first screen.
export function Tools({ children }) {
  const isNarrow = useMedia(narrow);
  const line = html`<div class="row tools">${children}</div>`;
  return isNarrow ? html`
    <details class="fold no-print"><summary>${t("filter.choose")}</summary>${line}</details>
  ` : line;
}

// The accounts of videos as a watchlist takes them, each once; those whose id is unknown cannot be watched.
function accountsOf(videos) {
  const titles = new Map(videos.map(({ author }) => [author?.sec_uid, author?.nickname ?? author?.unique_id]));
  return [...titles].filter(([id]) => id).map(([id, title]) => ({ id, title }));
}

// What can be done with the chosen rows.
function Chosen({ videos, onClear }) {
  const [isCompared, setCompared] = useState(false);
  const accounts = accountsOf(videos);
  return html`
    <div class="row chosen" role="group" aria-label=${t("chosen.title")}>
      <b role="status">${t("chosen.number", { number: count(videos.length) })}</b>
      <${SaveRows} rows=${videos} name="videos" table="videos" label=${t("chosen.save")} />
      <${TagButton} kind="video" ids=${videos.map((video) => video.aweme_id)} />
      <${WatchSeveral} kind="account" subjects=${accounts} label=${t("watch.creators", { number: accounts.length })} />
      ${videos.length > 1 && html`
        <button type="button" class="button little" onClick=${() => setCompared(true)}>${t("chosen.compare")}</button>
      `}
      <button type="button" class="button little plain" onClick=${onClear}>${t("chosen.clear")}</button>
      ${isCompared && html`<${CompareVideos} videos=${videos} onClose=${() => setCompared(false)} />`}
    </div>
  `;
}

function Pick({ video, chosenIds, flip }) {
  return html`
    <input
      type="checkbox"
      class="pick"
      aria-label=${t("chosen.pick", { rank: video.rank })}
      checked=${chosenIds.includes(video.aweme_id)}
      onChange=${() => flip(video.aweme_id)}
    />
  `;
}

function pickColumn(videos, chosenIds, { flip, setChosenIds }) {
  const isWhole = videos.every((video) => chosenIds.includes(video.aweme_id));
  return {
    key: "pick",
    label: "",
    head: html`
      <input
        type="checkbox"
        class="pick"
        aria-label=${t("chosen.all")}
        checked=${isWhole}
        onChange=${() => setChosenIds(isWhole ? [] : videos.map((video) => video.aweme_id))}
      />
    `,
    render: (video) => html`<${Pick} video=${video} chosenIds=${chosenIds} flip=${flip} />`,
  };
}

const furtherKeys = () => allColumns().filter((column) => column.further).map((column) => column.key);

// The further columns that are shown, and how to choose them: those of the address, else of this browser. The browser's
// choice becomes part of the address, so that a copied link shows it.
function useFurtherColumns(query, choose) {
  const own = tableChoices.value[NAME]?.columns;
  useEffect(() => {
    if (own?.length && query.columns === undefined) choose({ columns: own.join() }, replaceAddress);
  }, [query.columns]);
  const further = query.columns === undefined ? (own ?? usualColumns()) : query.columns.split(",");
  const setFurther = (keys) => {
    changeTable(NAME, { columns: keys });
    choose({ columns: keys.join() || undefined }, replaceAddress);
  };
  return [further, setFurther];
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

// One of the four counts, with a bar while the table is sorted by it.
export function countColumn(name, order, render) {
  const value = (video) => video.statistics[name];
  return { key: order, label: t(`stat.${name}`), num: true, sort: [order], bar: true, value, render };
}

export const hotColumn = () => ({
  key: "hot",
  label: t("stat.hot_score"),
  num: true,
  sort: ["hot_score"],
  bar: true,
  value: (video) => video.hot_score,
  render: (video) => html`<b>${count(video.hot_score)}</b>`,
});

export const videoColumn = () => ({
  key: "video",
  label: t("col.video"),
  class: "cell-title",
  value: (video) => video.desc,
  render: (video) => html`<${VideoCell} video=${video} />`,
});

const authorColumn = () => ({
  key: "author",
  label: t("col.account"),
  class: "cell-name",
  value: (video) => video.author?.nickname,
  render: (video) => html`
    <a class="one-line" href=${link(["profile"], { id: video.author?.sec_uid })}>
      <${Foreign} text=${video.author?.nickname} none=${video.author?.unique_id ?? "—"} />
    </a>
  `,
});

export const dateColumn = () => ({
  key: "date",
  label: t("col.published"),
  num: true,
  sort: ["latest", "oldest"],
  render: (video) => published(video),
});

export const checkColumn = () => ({
  key: "evidence",
  label: t("col.evidence"),
  class: "cell-check",
  value: (video) => video.audio_check && labelOf("audio_check", video.audio_check.kind),
  render: (video) => html`<${AudioCheck} video=${video} />`,
});

export const bornColumn = () => ({
  key: "born",
  label: t("col.born"),
  num: true,
  ascends: true,
  value: (video) => (video.music?.created_at ? Date.parse(video.music.created_at) : null),
  render: (video) => day(video.music?.created_at),
});

const likesOf = (video) => html`
  ${video.is_viral && html`<${Badge} tone="warn" bare>${t("filter.viral_short")}<//>${" "}`}
  ${count(video.statistics.digg_count)}
`;

// `further` columns are shown when they are chosen.
function allColumns() {
  return [
    {
      key: "rank",
      label: "#",
      num: true,
      ascends: true,
      value: (video) => video.rank,
      render: (video) => html`<span class="rank">${video.rank}</span>`,
    },
    videoColumn(),
    authorColumn(),
    hotColumn(),
    countColumn("digg_count", "digg", likesOf),
    countColumn("comment_count", "comment"),
    countColumn("collect_count", "collect"),
    countColumn("share_count", "share"),
    checkColumn(),
    dateColumn(),
    {
      key: "link",
      label: t("filter.link"),
      further: true,
      value: (video) => labelOf("link", video.link_type),
      render: (video) => html`<${LinkBadge} video=${video} />`,
    },
    { ...bornColumn(), further: true },
    {
      key: "music",
      label: t("filter.music"),
      class: "cell-name",
      further: true,
      value: (video) => video.source_music_title,
      render: (video) => html`
        <a class="one-line" href=${link(["track", video.source_music_id])}>
          <${Foreign} text=${video.source_music_title} none=${video.source_music_id} />
        </a>
        ${video.music?.created_at && html`
          <div class="tiny soft two-lines">
            ${video.music.born_with ? t("track.born_here") : t("track.born", { day: day(video.music.created_at) })}
          </div>
        `}
      `,
    },
    { ...hashtagsColumn(), further: true, value: undefined }, // no column of files: they could not keep its order
    {
      key: "observed",
      label: t("col.observed"),
      num: true,
      further: true,
      value: (video) => Date.parse(video.observed_at),
      render: (video) => day(video.observed_at),
    },
    {
      key: "over_time",
      label: t("act.time"),
      further: true,
      render: (video) => html`<a href=${link(["time", "video", video.aweme_id])}>${t("act.open")}</a>`,
    },
    {
      key: "note",
      label: t("note.text"),
      further: true,
      render: (video) => html`<${NotePad} kind="video" id=${video.aweme_id} isShort />`,
    },
  ];
}
