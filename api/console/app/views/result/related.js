// Videos related to a song by search text alone, apart from the ranking, and the terms of the search.
import { PATHS } from "../../api.js";
import { count, published, publishedAt } from "../../format.js";
import { html } from "../../html.js";
import { labelOf, t, termNames } from "../../i18n.js";
import { useAddress } from "../../router.js";
import { ExportMenu, fileOrder } from "../../parts/export.js";
import { ScanThis } from "../../parts/scan_request.js";
import { PlainTable, sortRows, Table } from "../../parts/table.js";
import { Badge, Empty } from "../../parts/ui.js";
import { AccountLink, VideoCard, VideoCell } from "../../parts/video.js";
import "../../messages/figures.js";
import "../../messages/page.js";
import "../../messages/result.js";

const COUNTS = ["digg_count", "comment_count", "collect_count", "share_count"];
const RELEVANCE_TONES = {
  exact_title: "good",
  music_id_corroborated: "good",
  conflicting_music_title: "warn",
  expanded_candidate: "",
};
export function Related({ job, isByName, query }) {
  const related = job.result.search_related;
  const [level, setLevel] = useAddress(["job", job.job_id], query, "level");
  const [order, setOrder] = useAddress(["job", job.job_id], query, "order");
  const countOf = (name) => ({
    key: name,
    label: t(`stat.${name}`),
    num: true,
    bar: true,
    value: (row) => row.statistics[name],
  });
  const columns = [
    {
      key: "video",
      label: t("col.video"),
      class: "cell-title",
      value: (row) => row.desc,
      render: (row) => html`<${VideoCell} video=${row} />`,
    },
    {
      key: "level",
      label: t("col.relevance"),
      value: (row) => labelOf("relevance", row.search_relevance_level),
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
      value: (row) => row.author?.nickname,
      render: (row) => html`<${AccountLink} author=${row.author} />`,
    },
    { key: "hot", label: t("stat.hot_score"), num: true, bar: true, value: (row) => row.hot_score },
    ...COUNTS.map(countOf),
    { key: "date", label: t("col.published"), num: true, value: publishedAt, render: published },
    isByName && { key: "scan", label: t("col.more"), render: (row) => html`<${ScanThis} video=${row} />` },
    !isByName && {
      key: "both",
      label: t("col.also"),
      value: (row) => (row.duplicate_with_returned_ranking ? t("act.yes") : ""),
      render: (row) => (row.duplicate_with_returned_ranking ? t("act.yes") : ""),
    },
  ].filter(Boolean);
  const levelled = related.aweme_list.filter((video) => !level || video.search_relevance_level === level);
  const rows = sortRows(levelled, columns, order);
  return html`
    <div class="row apart">
      <p class="small soft" style=${{ maxWidth: "70ch" }}>${t("related.note")}</p>
      <div class="row">
        <${ExportMenu}
          source=${`${PATHS.jobs}/${job.job_id}`}
          table="search_related"
          view=${{ search_relevance_level: level, order: fileOrder(order) }}
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
        name="related"
        order=${order}
        onOrder=${setOrder}
        card=${(row) => html`<${VideoCard} video=${row} action=${isByName && html`<${ScanThis} video=${row} />`} />`}
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
        { key: "term", label: t("col.term"), value: (row) => row.term },
        { key: "pages", label: t("col.pages"), num: true, value: (row) => row.pages },
        { key: "items", label: t("col.items"), num: true, value: (row) => row.items },
        { key: "new", label: t("col.new"), num: true, value: (row) => row.new_items },
        { key: "cursor", label: t("col.cursor"), num: true, value: (row) => row.last_cursor },
        { key: "stop", label: t("col.stop"), value: (row) => labelOf("stop", row.stop_reason) },
      ]}
    />
  `;
}
