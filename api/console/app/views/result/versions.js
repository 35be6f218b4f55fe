// Other versions of a song: videos with another performance of it, such as a cover. They are no match and never ranked.
import { PATHS } from "../../api.js";
import { decimal, published, publishedAt } from "../../format.js";
import { html } from "../../html.js";
import { t } from "../../i18n.js";
import { link, useAddress } from "../../router.js";
import { ExportMenu, fileOrder } from "../../parts/export.js";
import { PlayButton } from "../../parts/media/play_button.js";
import { sortRows, Table } from "../../parts/table.js";
import { Empty } from "../../parts/ui.js";
import { AccountLink, CardFigure, VideoCard, VideoCell } from "../../parts/video.js";
import "../../messages/figures.js";
import "../../messages/page.js";
import "../../messages/result.js";

const COUNTS = ["digg_count", "comment_count", "collect_count", "share_count"];
const BY_SCORE = "-version_score";

export function Versions({ job, query }) {
  const { versions } = job.result;
  const [chosenOrder, setOrder] = useAddress(["job", job.job_id], query, "order");
  const order = chosenOrder || BY_SCORE;
  if (!versions) return html`<${Empty} title=${t("versions.unknown")}>${t("versions.unknown_hint")}<//>`;
  if (!versions.count) return html`<${Empty} title=${t("versions.empty")}>${t("versions.empty_hint")}<//>`;
  const columns = columnsOfVersions();
  const videos = sortRows(versions.aweme_list, columns, order);
  return html`
    <div class="row apart">
      <p class="small soft">${t("versions.note")}</p>
      <${ExportMenu}
        source=${`${PATHS.jobs}/${job.job_id}`}
        table="versions"
        view=${{ order: fileOrder(order) }}
      />
    </div>
    <${Table}
      name="versions"
      rows=${videos}
      columns=${columns}
      keyOf=${(video) => video.aweme_id}
      caption=${t("tab.versions")}
      order=${order}
      onOrder=${setOrder}
      card=${(video) => html`
        <${VideoCard} video=${video} action=${evidenceOf(video)} figure=${scoreOnCard(video)} />
      `}
    />
  `;
}

const evidenceOf = ({ evidence }) => html`
  <span class="nowrap">
    <${PlayButton} id=${evidence.comparison_id} />${" "}
    <a href=${link(["evidence", evidence.comparison_id])}>${t("act.open")}</a>
  </span>
`;

const scoreOnCard = (video) => html`
  <${CardFigure} name=${t("col.version_score")}>${decimal(video.version_score, 2)}<//>
`;

function columnsOfVersions() {
  return [
    {
      key: "video",
      label: t("col.video"),
      class: "cell-title",
      value: (video) => video.desc,
      render: (video) => html`<${VideoCell} video=${video} />`,
    },
    {
      key: "version_score",
      label: t("col.version_score"),
      num: true,
      value: (video) => video.version_score,
      render: (video) => decimal(video.version_score, 2),
    },
    {
      key: "author",
      label: t("col.account"),
      class: "cell-name",
      value: (video) => video.author?.nickname,
      render: (video) => html`<${AccountLink} author=${video.author} />`,
    },
    ...COUNTS.map((name) => ({
      key: name,
      label: t(`stat.${name}`),
      num: true,
      bar: true,
      value: (video) => video.statistics[name],
    })),
    { key: "date", label: t("col.published"), num: true, value: publishedAt, render: published },
    { key: "evidence", label: t("col.evidence"), class: "nowrap", render: evidenceOf },
  ];
}
