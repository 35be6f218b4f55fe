// The ranking: sort orders (the service sorts), filters, column choice, up to 500 rows.
import { PATHS, address, request } from "../../api.js";
import { Foreign, byBirth, compact, count, day, published, safeLink } from "../../format.js";
import { html, useEffect, useMemo, useState } from "../../html.js";
import { labelOf, t, termsOf } from "../../i18n.js";
import { Badge, CheckField, Empty, ErrorNote, SelectField, TextField } from "../../parts/ui.js";
import { ColumnChoice, Table, narrow, useMedia } from "../../parts/table.js";
import { ExportMenu, SaveRows } from "../../parts/export.js";
import { Picture } from "../../parts/picture.js";
import { NotePad } from "../../parts/notes.js";
import { PlayButton } from "../../parts/sound/play.js";
import { go, link, replaceAddress } from "../../router.js";
import "../../messages/accounts.js";
import "../../messages/page.js";
import "../../messages/result.js";
import "../../messages/scan.js";

const LINK_TONES = { exact_music_id: "info", audio_fingerprint_match: "good", verified_music_id_graph: "accent" };
const MOST_ROWS = 500;
export const BORN = "born"; // an order of the page alone: by the birth of the sound
// Columns that are hidden until they are chosen: on a narrower screen those, too, that would push others out of sight.
const KEPT = { hidden: ["collect", "share", "born", "music", "observed", ...(innerWidth < 1320 ? ["comment", "note"] : [])] };

// What the address says about the ranking.
function viewOf(query, own) {
  return { order: query.sort && query.sort !== BORN ? query.sort : own, isByBirth: query.sort === BORN, link: query.link ?? "", music: query.music ?? "", account: query.account ?? "", viral: query.viral === "1" };
}

export function Ranking({ job, query }) {
  const [hidden, setHidden] = useState(KEPT.hidden);
  const [wanted, setWanted] = useState(null); // rows asked for, if more than the scan returned
  const [other, setOther] = useState(null); // the same result with more rows or in another order
  const [error, setError] = useState(null);
  const result = other ?? job.result;
  const own = job.parameters.sort_by;
  const view = viewOf(query, own);
  const asked = { sort_by: view.order, count: wanted, viral_only: view.viral || null };
  useEffect(() => {
    setError(null); // of a view that is left
    if (view.order === own && !wanted && !view.viral) {
      setOther(null);
      return undefined;
    }
    const stopping = new AbortController();
    readRanking(job.job_id, asked, stopping.signal).then(setOther, (failed) => { if (failed.name !== "AbortError") setError(failed); });
    return () => stopping.abort();
  }, [job.job_id, view.order, view.viral, wanted]);
  const change = (part, move = go) => {
    const next = { ...view, ...part };
    move(["job", job.job_id], { ...query, sort: next.isByBirth ? BORN : next.order === own ? "" : next.order, link: next.link, music: next.music, account: next.account, viral: next.viral ? "1" : "" });
  };
  const rows = useMemo(() => (view.isByBirth ? byBirth(filtered(result.aweme_list, view)) : filtered(result.aweme_list, view)), [result, query]);
  const isPart = rows.length < result.aweme_list.length;
  const columns = allColumns().filter((column) => column.always || !hidden.includes(column.key));
  const musics = useMemo(() => [...new Map(result.aweme_list.map((video) => [video.source_music_id, video.source_music_title]))], [result]);
  if (!job.result.aweme_list.length) return html`<${Empty} title=${t("ranking.empty")}>${t("ranking.empty_hint")}<//>`;
  return html`<div class="stack">
    <${Tools} fields=${html`<${SelectField} label=${t("param.sort_by")} value=${view.order} options=${termsOf("sort", view.order)} onChange=${(value) => change({ order: value, isByBirth: false })} />
        <${SelectField} label=${t("filter.link")} value=${view.link} options=${[["", t("act.all")], ...Object.keys(LINK_TONES).map((name) => [name, labelOf("link", name)])]} onChange=${(value) => change({ link: value })} />
        <${SelectField} label=${t("filter.music")} value=${view.music} options=${[["", t("act.all")], ...musics.map(([id, title]) => [id, `${(title ?? "").slice(0, 40)} · ${id}`])]} onChange=${(value) => change({ music: value })} />
        <${TextField} label=${t("filter.account")} value=${view.account} onInput=${(value) => change({ account: value }, replaceAddress)} />`}>
      <div class="row apart"><div class="row"><${CheckField} label=${t("filter.viral")} value=${view.viral} onChange=${(value) => change({ viral: value })} /><span class="small soft" role="status">${t("ranking.rows", { shown: count(rows.length), all: count(result.aweme_list.length) })}</span></div>
      <div class="row">${result.returned_count < result.confirmed_count && html`<button type="button" class="button little" onClick=${() => setWanted(MOST_ROWS)}>${t("ranking.more", { number: count(Math.min(MOST_ROWS, result.confirmed_count)) })}</button>`}<${ColumnChoice} columns=${allColumns()} hidden=${hidden} onChange=${(next) => { KEPT.hidden = next; setHidden(next); }} />${(isPart || view.isByBirth) && html`<${SaveRows} rows=${rows} name="videos" />`}<${ExportMenu} source=${address(rankingPath(job.job_id), asked)} table="videos" label=${isPart ? t("export.unfiltered", { number: count(result.aweme_list.length) }) : undefined} /></div></div><//>
    <${ErrorNote} error=${error} />
    ${rows.length ? html`<${Table} rows=${rows} columns=${columns} keyOf=${(row) => row.aweme_id} caption=${t("tab.ranking")} order=${view.isByBirth ? BORN : view.order} onOrder=${(order) => change(order === BORN ? { isByBirth: true } : { order, isByBirth: false })} card=${(video) => html`<${VideoCard} video=${video} />`} />` : html`<${Empty} title=${t("filter.none")} icon="search"><button type="button" class="button little" onClick=${() => change({ link: "", music: "", account: "", viral: false })}>${t("filter.clear")}</button><//>`}</div>`;
}

// Filters and what can be done with the rows. On a phone they are folded, so that the first rows are on the first screen.
function Tools({ fields, children }) {
  const isNarrow = useMedia(narrow);
  const whole = html`<div class="beside"><div class="grid pair">${fields}</div>${children}</div>`;
  return isNarrow ? html`<details class="fold no-print"><summary>${t("filter.choose")}</summary>${whole}</details>` : whole;
}

const rankingPath = (jobId) => `${PATHS.jobList}/${jobId}/ranking`;

async function readRanking(jobId, query, signal) {
  return (await request(rankingPath(jobId), { query, signal })).data.result;
}

function filtered(videos, view) {
  const wanted = view.account.trim().toLocaleLowerCase();
  return videos.filter((video) => (!view.link || video.link_type === view.link) && (!view.music || video.source_music_id === view.music)
    && (!wanted || [video.author?.nickname, video.author?.unique_id, video.author?.sec_uid].some((name) => name?.toLocaleLowerCase().includes(wanted))));
}

function allColumns() {
  return [
    { key: "rank", label: "#", num: true, always: true, render: (row) => html`<span class="rank">${row.rank}</span>` },
    { key: "video", label: t("col.video"), always: true, class: "cell-title", render: (row) => html`<${VideoCell} video=${row} />` },
    { key: "author", label: t("col.account"), class: "cell-name", render: (row) => html`<a class="one-line" href=${link(["profile"], { id: row.author?.sec_uid })}><${Foreign} text=${row.author?.nickname} none=${row.author?.unique_id ?? "—"} /></a>` },
    { key: "hot", label: t("stat.hot"), num: true, sort: "hot_score", render: (row) => html`<b>${count(row.hot_score)}</b>` },
    { key: "link", label: t("filter.link"), render: (row) => html`<${LinkBadge} video=${row} />` },
    { key: "evidence", label: t("col.evidence"), always: true, class: "nowrap", render: (row) => (row.evidence ? html`<${PlayButton} id=${row.evidence.comparison_id} /> <a href=${link(["evidence", row.evidence.comparison_id])}>${t("act.open")}</a>` : html`<a href=${link(["time", "video", row.aweme_id])}>${t("act.time")}</a>`) },
    { key: "digg", label: t("stat.likes"), num: true, sort: "digg", render: (row) => html`${row.is_viral && html`<${Badge} tone="warn" bare>${t("filter.viral_short")}<//> `}${count(row.statistics.digg_count)}` },
    { key: "comment", label: t("stat.comments"), num: true, sort: "comment", render: (row) => count(row.statistics.comment_count) },
    { key: "collect", label: t("stat.collects"), num: true, sort: "collect", render: (row) => count(row.statistics.collect_count) },
    { key: "share", label: t("stat.shares"), num: true, sort: "share", render: (row) => count(row.statistics.share_count) },
    { key: "date", label: t("col.published"), num: true, sort: "latest", render: (row) => published(row) },
    bornColumn(),
    { key: "music", label: t("filter.music"), class: "cell-name", render: (row) => html`<span class="two-lines"><${Foreign} text=${row.source_music_title} /></span>${row.music?.created_at && html`<div class="tiny soft">${row.music.born_with ? t("track.born_here") : t("track.born", { day: day(row.music.created_at) })}</div>`}` },
    { key: "observed", label: t("col.observed"), num: true, render: (row) => day(row.observed_at) },
    { key: "note", label: t("note.text"), render: (row) => html`<${NotePad} kind="video" id=${row.aweme_id} isShort />` },
  ];
}

export function bornColumn() {
  return { key: BORN, label: t("col.born"), num: true, sort: BORN, ascends: true, render: (row) => day(row.music?.created_at) };
}

export function LinkBadge({ video }) {
  return html`<${Badge} tone=${LINK_TONES[video.link_type] ?? ""}>${labelOf("link", video.link_type)}<//>`;
}

export function VideoCell({ video }) {
  const address = safeLink(video.share_url);
  const text = html`<span class="two-lines"><${Foreign} text=${video.desc} none=${video.aweme_id} /></span>`;
  return html`<span class="with-picture"><${Picture} kind="video" id=${video.aweme_id} name=${video.desc} />${address ? html`<a href=${address} target="_blank" rel="noopener noreferrer" class="title-link">${text}</a>` : text}</span>`;
}

export function VideoCard({ video }) {
  return html`<span class="rank">${video.rank ?? ""}</span><div class="stack tight"><${VideoCell} video=${video} />
    <div class="meta"><span><${Foreign} text=${video.author?.nickname} /></span><span>${t("stat.hot")} <b>${compact(video.hot_score)}</b></span><span>${t("stat.likes")} <b>${compact(video.statistics?.digg_count)}</b></span></div>
    <div class="meta">${video.variant_kind && html`<${Badge} tone="warn">${labelOf("variant", video.variant_kind)}<//>`}${video.link_type && html`<${LinkBadge} video=${video} />`}${video.search_relevance_level && html`<${Badge}>${labelOf("relevance", video.search_relevance_level)}<//>`}${video.evidence && html`<${PlayButton} id=${video.evidence.comparison_id} /><a href=${link(["evidence", video.evidence.comparison_id])}>${t("act.show_evidence")}</a>`}</div></div>`;
}
