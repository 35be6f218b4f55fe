// What a running scan has confirmed so far: its rows appear while it runs.
import { PATHS, request } from "../api.js";
import { count, published } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { Badge } from "../parts/ui.js";
import { Table } from "../parts/table.js";
import { LinkBadge, VideoCard, VideoCell } from "./result/ranking.js";
import "../messages/accounts.js";
import "../messages/page.js";
import "../messages/result.js";
import "../messages/scan.js";

const REFRESH_MS = 2500;

// The preview of a job, read again every few seconds while it runs; null before its first rows.
export function usePreview(job) {
  const [preview, setPreview] = useState(null);
  const isRunning = job?.status === "running";
  useEffect(() => {
    if (!isRunning) return undefined;
    const stopping = new AbortController();
    const refresh = () =>
      request(`${PATHS.jobList}/${job.job_id}/preview`, { signal: stopping.signal }).then(
        (envelope) => {
          if (envelope.data.music) setPreview(envelope.data);
        },
        () => {},
      ); // the result at the end is complete
    refresh();
    const timer = setInterval(refresh, REFRESH_MS);
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [job?.job_id, isRunning]);
  return preview;
}

const columns = () => [
  { key: "rank", label: "#", num: true, render: (row) => html`<span class="rank">${row.rank}</span>` },
  { key: "video", label: t("col.video"), class: "cell-title", render: (row) => html`<${VideoCell} video=${row} />` },
  { key: "link", label: t("filter.link"), render: (row) => html`<${LinkBadge} video=${row} />` },
  { key: "hot", label: t("stat.hot"), num: true, render: (row) => html`<b>${count(row.hot_score)}</b>` },
  { key: "digg", label: t("stat.likes"), num: true, render: (row) => count(row.statistics.digg_count) },
  { key: "date", label: t("col.published"), num: true, render: (row) => published(row) },
];

export function Preview({ preview }) {
  if (!preview?.returned_count) return null;
  const { aweme_list: rows, confirmed_count: confirmed } = preview;
  return html`
    <section class="stack tight" aria-labelledby="so-far">
      <div class="row">
        <h2 id="so-far">${t("preview.title", { number: count(confirmed) })}</h2>
        <${Badge} tone="info">${t("preview.preliminary")}<//>
      </div>
      <p class="small soft">
        ${t(rows.length < confirmed ? "preview.note_cut" : "preview.note", { shown: count(rows.length) })}
      </p>
      <${Table}
        rows=${rows}
        columns=${columns()}
        keyOf=${(row) => row.aweme_id}
        caption=${t("preview.caption")}
        card=${(video) => html`<${VideoCard} video=${video} />`}
      />
    </section>
  `;
}
