// Plots of a result: distribution of likes, link types, accounts, months and the same-track graph.
import { Foreign, compact, count, publishedAt } from "../../format.js";
import { html, useMemo } from "../../html.js";
import { labelOf, t } from "../../i18n.js";
import { Bars, COLORS } from "../../parts/charts.js";
import { Graph } from "../../parts/graph.js";
import { Card, Empty } from "../../parts/ui.js";
import { safeLink } from "../../format.js";
import { link } from "../../router.js";
import "../../messages/result.js";

const EDGES = [0, 100, 1000, 10_000, 100_000, 1_000_000, Infinity];

export function spread(videos) {
  const found = EDGES.slice(0, -1).map((low, at) => ({ key: low, low, high: EDGES[at + 1], value: 0 }));
  for (const video of videos) {
    const likes = video.statistics.digg_count;
    const bin = likes === null ? null : found.find((one) => likes >= one.low && likes < one.high);
    if (bin) bin.value += 1;
  }
  return found.map((bin) => ({
    ...bin,
    name: bin.high === Infinity ? `≥ ${compact(bin.low)}` : `${compact(bin.low)} – ${compact(bin.high - 1)}`,
  }));
}

const MOST_MONTHS = 18;
const before = (month) => {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 2)).toISOString().slice(0, 7);
};

// Months without a video are shown, too: a gap in time is a fact.
function byMonth(videos) {
  const months = new Map();
  for (const video of videos) {
    const at = publishedAt(video);
    if (at === null) continue;
    const month = new Date(at * 1000).toISOString().slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + 1);
  }
  const known = [...months.keys()].sort();
  const shown = [];
  for (let month = known.at(-1); month >= known[0] && shown.length < MOST_MONTHS; month = before(month))
    shown.unshift({ key: month, name: month, value: months.get(month) ?? 0 });
  return shown;
}

// Videos that a plot of `drawn` leaves out.
function NotDrawn({ drawn, videos }) {
  const left = videos.length - drawn.reduce((sum, one) => sum + one.value, 0);
  return left > 0 && html`<p class="small soft">${t("genealogy.not_drawn", { number: count(left) })}</p>`;
}

// `result`: as the address views it.
export function Plots({ result }) {
  const videos = result.aweme_list;
  const likes = useMemo(() => spread(videos), [videos]);
  const months = useMemo(() => byMonth(videos), [videos]);
  if (!videos.length) return html`<${Empty} title=${t("ranking.empty")}>${t("ranking.empty_hint")}<//>`;
  const kinds = Object.entries(Object.groupBy(videos, (video) => video.link_type)).map(([kind, list], at) => ({
    key: kind,
    name: labelOf("link", kind),
    value: list.length,
    color: COLORS[at],
  }));
  const accounts = [...result.account_summary.accounts]
    .sort((a, b) => (b.linked_digg_count ?? -1) - (a.linked_digg_count ?? -1))
    .slice(0, 12)
    .map((one) => ({
      key: one.sec_uid,
      name: html`<${Foreign} text=${one.nickname} />`,
      value: one.linked_digg_count,
      shown: compact(one.linked_digg_count),
    }));
  const linkOf = (video) =>
    video.evidence ? link(["evidence", video.evidence.comparison_id]) : safeLink(video.share_url);
  return html`
    ${videos.length < result.confirmed_count && html`
      <p class="small soft">${t("plot.ranked", { shown: count(videos.length), all: count(result.confirmed_count) })}</p>
    `}
    <${Card} title=${t("graph.title")} aside=${html`<span class="small soft">${t("graph.size")}</span>`}>
      <${Graph} result=${result} linkOf=${linkOf} />
    <//>
    <div class="grid two">
      <${Card} title=${t("plot.likes")}>
        <${Bars} items=${likes} label=${t("plot.likes")} />
        <${NotDrawn} drawn=${likes} videos=${videos} />
      <//>
      <${Card} title=${t("plot.kinds")}><${Bars} items=${kinds} label=${t("plot.kinds")} /><//>
      <${Card} title=${t("plot.accounts")}><${Bars} items=${accounts} label=${t("plot.accounts")} /><//>
      <${Card} title=${t("plot.months")}>
        ${months.length
          ? html`<${Bars} items=${months} label=${t("plot.months")} />`
          : html`<p class="soft">${count(null)}</p>`}
        <${NotDrawn} drawn=${months} videos=${videos} />
      <//>
    </div>
  `;
}
