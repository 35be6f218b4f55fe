// A song of the chart beside the platform: which music ids it is and why, the curve of their works,
// and what came first. An estimate is called one, and a null says its reason.
import { PATHS, ask } from "../api.js";
import { DASH, Foreign, count, decimal, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { COLORS, TimeLines } from "./charts.js";
import { Badge, Card, Empty, Fault, Loading } from "./ui.js";
import { PlainTable } from "./table.js";

const TONES = { same: "good", possible: "warn", different: "bad" };
const SUREST = ["manual", "high", "medium", "low"];
// What it is before what it may be and what it is not; the surest first, by itself before through another.
const place = (link) => Object.keys(TONES).indexOf(link.relation) * 10 + SUREST.indexOf(link.confidence) * 2 + (link.via_music_id ? 1 : 0);
const word = (group, name) => (name ? t(`beside.${group}.${name}`) : DASH);
const days = (value) => (value === null || value === undefined ? DASH : decimal(value, 1));

export function Beside({ songKey }) {
  const [state, setState] = useState({});
  useEffect(() => {
    const stopping = new AbortController();
    setState({ busy: true });
    ask(`${PATHS.chartSongs}/${encodeURIComponent(songKey)}`, { signal: stopping.signal }).then((envelope) => setState({ data: envelope.data }), (error) => { if (error.name !== "AbortError") setState({ error }); });
    return () => stopping.abort();
  }, [songKey]);
  if (state.error) return html`<${Fault} error=${state.error} />`;
  return state.data ? html`<${Found} song=${state.data} />` : html`<${Card}><${Loading} rows=${4} /><//>`;
}

function Found({ song }) {
  const { chart, lead, links, platform } = song;
  const columns = [ // two, so that a phone shows the reason without being turned
    { key: "id", label: t("beside.music_id"), class: "cell-title", render: (row) => html`<a href=${`#/time/track/${row.music_id}`}>${row.music_id}</a><div class="small soft"><${Foreign} text=${row.music_title} /> · <${Foreign} text=${row.music_author} /></div>` },
    { key: "relation", label: t("beside.link"), render: (row) => html`<${Badge} tone=${TONES[row.relation] ?? ""}>${word("relation", row.relation)}<//> <span class="small soft" style=${{ whiteSpace: "nowrap" }}>${word("confidence", row.confidence)}</span>
      <div class="small" style=${{ overflowWrap: "anywhere" }}>${word("reason", row.reason)}${row.via_music_id && html` <span class="soft">${t("beside.via", { id: row.via_music_id })}</span>`}</div>` },
  ];
  // the first issue seen is the entry only where the one before it is known
  const marks = chart.entry_after_date ? [{ at: Date.parse(chart.first_chart_date), name: t("beside.entry", { date: chart.first_chart_date }) }] : [];
  const points = platform.points.map((point) => ({ at: new Date(point.observed_at).getTime(), value: point.digg_count }));
  return html`<${Card} title=${t("beside.title")} aside=${html`<span class="small soft">${song.song_key}</span>`}>
      <p><b><${Foreign} text=${song.title} /></b> <${Foreign} text=${song.artist} /> · ${t("beside.standing", { issues: count(chart.issue_count), kept: count(chart.kept_issue_count), first: chart.first_chart_date, rank: chart.best_rank })}</p>
      ${links.length ? html`<${PlainTable} rows=${[...links].sort((a, b) => place(a) - place(b))} columns=${columns} keyOf=${(row) => row.music_id} caption=${t("beside.title")} />` : html`<${Empty} title=${t("beside.none")} icon="chart">${t("beside.none_hint")}<//>`}
      ${points.length > 0 && html`<${TimeLines} label=${t("beside.curve")} series=${[{ key: "likes", name: t("stat.digg_count"), color: COLORS[0], points }]} marks=${marks} />`}
      <p class="row">${lead.lead_days === null ? html`<span>${t("beside.no_lead")} ${word("lead_reason", lead.reason)}</span>` : html`<b>${t(lead.lead_days < 0 ? "beside.lag" : "beside.lead", { days: days(Math.abs(lead.lead_days)) })}</b>`}
        ${lead.low_days !== null && html`<span>${t(lead.low_days < 0 ? "beside.bounds_below" : "beside.bounds", { low: days(lead.low_days), high: days(lead.high_days) })}</span>`}${lead.direction && html`<${Badge} tone=${lead.direction === "undecided" ? "" : "info"}>${word("direction", lead.direction)}<//>`}</p>
      <p class="small soft">${t("beside.behind", { observations: count(lead.observation_count), works: count(lead.work_count), days: count(lead.observed_day_count) })}
        ${lead.rise_before && ` ${t("beside.rise", { after: lead.rise_after ? moment(lead.rise_after) : DASH, before: moment(lead.rise_before) })}`} ${t("beside.note")}</p><//>`;
}
