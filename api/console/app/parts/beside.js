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
const word = (group, name) => (name ? t(`beside.${group}.${name}`) : DASH);
const days = (value) => (value === null || value === undefined ? DASH : `${value > 0 ? "+" : ""}${decimal(value, 1)}`);

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
  const columns = [
    { key: "id", label: t("beside.music_id"), render: (row) => html`<a href=${`#/time/track/${row.music_id}`}>${row.music_id}</a>` },
    { key: "relation", label: t("beside.link"), render: (row) => html`<${Badge} tone=${TONES[row.relation] ?? ""}>${word("relation", row.relation)}<//> <span class="small soft">${word("confidence", row.confidence)}</span>` },
    { key: "reason", label: t("beside.why"), render: (row) => html`${word("reason", row.reason)}${row.via_music_id && html`<div class="small soft">${t("beside.via", { id: row.via_music_id })}</div>`}` },
    { key: "title", label: t("chart.song"), class: "cell-title", render: (row) => html`<${Foreign} text=${row.music_title} /><div class="small soft"><${Foreign} text=${row.music_author} /></div>` },
  ];
  const points = platform.points.map((point) => ({ at: new Date(point.observed_at).getTime(), value: point.digg_count }));
  return html`<${Card} title=${t("beside.title")} aside=${html`<span class="small soft">${song.song_key}</span>`}>
      <p><b><${Foreign} text=${song.title} /></b> <${Foreign} text=${song.artist} /> · ${t("beside.standing", { issues: count(chart.issue_count), kept: count(chart.kept_issue_count), first: chart.first_chart_date, rank: chart.best_rank })}</p>
      ${links.length ? html`<${PlainTable} rows=${links} columns=${columns} keyOf=${(row) => row.music_id} caption=${t("beside.title")} />` : html`<${Empty} title=${t("beside.none")} icon="chart">${t("beside.none_hint")}<//>`}
      ${points.length > 0 && html`<${TimeLines} label=${t("beside.curve")} series=${[{ key: "likes", name: t("stat.digg_count"), color: COLORS[0], points }]} />`}
      <p>${lead.lead_days === null ? html`${t("beside.no_lead")} ${word("lead_reason", lead.reason)}` : html`<b>${t("beside.lead", { days: days(lead.lead_days) })}</b>`}
        ${" "}${t("beside.bounds", { low: days(lead.low_days), high: days(lead.high_days) })} ${lead.direction ? word("direction", lead.direction) : ""}</p>
      <p class="small soft">${t("beside.behind", { observations: count(lead.observation_count), works: count(lead.work_count), days: count(lead.observed_day_count) })}
        ${lead.rise_before && ` ${t("beside.rise", { after: lead.rise_after ? moment(lead.rise_after) : DASH, before: moment(lead.rise_before) })}`} ${t("beside.note")}</p><//>`;
}
