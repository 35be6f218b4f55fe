// The variants of a recording: videos with it changed, or with a few seconds of it.
import { count } from "../../format.js";
import { html, useMemo } from "../../html.js";
import { labelOf, t } from "../../i18n.js";
import { ExportMenu, fileOrder } from "../../parts/export.js";
import { sortRows, Table } from "../../parts/table.js";
import { Badge, Empty, ErrorNote } from "../../parts/ui.js";
import { VideoCard, VideoCell } from "../../parts/video.js";
import {
  bornColumn,
  checkColumn,
  countColumn,
  dateColumn,
  hotColumn,
  MoreRows,
  videoColumn,
  ViralChip,
} from "./ranking.js";
import "../../messages/page.js";
import "../../messages/result.js";

export function Variants({ viewed }) {
  const { view, source, error, order, setOrder } = viewed;
  const { variants } = viewed.result;
  const columns = columnsOfVariants();
  const videos = useMemo(() => sortRows(variants.aweme_list, columns, view.page_order), [variants, view.page_order]);
  if (!variants.count) return html`<${Empty} title=${t("variants.empty")}>${t("variants.empty_hint")}<//>`;
  return html`
    <div class="row apart">
      <p class="small soft">${t("variants.note")}</p>
      <${ExportMenu} source=${source} table="variants" view=${{ order: fileOrder(view.page_order) }} />
    </div>
    <div class="row">
      <${ViralChip} viewed=${viewed} />
      <span class="small soft" role="status">
        ${t("ranking.rows", { shown: count(videos.length), all: count(variants.count) })}
      </span>
      <${MoreRows} viewed=${viewed} rowCount=${videos.length} most=${variants.count} />
    </div>
    <${ErrorNote} error=${error} />
    ${videos.length ? html`
      <${Table}
        name="variants"
        rows=${videos}
        columns=${columns}
        keyOf=${(video) => video.aweme_id}
        caption=${t("tab.variants")}
        order=${order}
        onOrder=${setOrder}
        card=${(video) => html`<${VideoCard} video=${video} />`}
      />
    ` : html`<${Empty} title=${t("filter.none")} icon="search" />`}
  `;
}

function columnsOfVariants() {
  return [
    { ...videoColumn(), render: (video) => html`<${VideoCell} video=${video} isMarked=${false} />` },
    {
      key: "kind",
      label: t("col.kind"),
      value: (video) => labelOf("variant", video.variant_kind),
      render: (video) => html`<${Badge} tone="warn">${labelOf("variant", video.variant_kind)}<//>`,
    },
    {
      key: "speed",
      label: t("col.speed"),
      num: true,
      value: (video) => video.speed,
      render: (video) => `× ${video.speed?.toFixed(2) ?? "—"}`,
    },
    {
      key: "semitones",
      label: t("col.semitones"),
      num: true,
      value: (video) => video.semitones,
      render: ({ semitones }) => (semitones === null ? "—" : (semitones > 0 ? "+" : "") + semitones.toFixed(1)),
    },
    hotColumn(),
    countColumn("digg_count", "digg"),
    countColumn("comment_count", "comment"),
    countColumn("collect_count", "collect"),
    countColumn("share_count", "share"),
    checkColumn(),
    dateColumn(),
    bornColumn(),
  ];
}
