// Chosen videos of a ranking side by side.
import { count, day, Foreign, published } from "../../format.js";
import { html, useEffect, useRef } from "../../html.js";
import { t } from "../../i18n.js";
import { PlainTable } from "../../parts/table.js";
import { VideoCell } from "../../parts/video.js";
import "../../messages/accounts.js";
import "../../messages/figures.js";
import "../../messages/page.js";
import "../../messages/result.js";

const COUNTS = ["digg_count", "comment_count", "collect_count", "share_count"];
const FIGURES = () => [
  [t("col.account"), (video) => html`<${Foreign} text=${video.author?.nickname} />`],
  [t("stat.hot_score"), (video) => count(video.hot_score)],
  ...COUNTS.map((name) => [t(`stat.${name}`), (video) => count(video.statistics[name])]),
  [t("col.published"), published],
  [t("col.observed"), (video) => day(video.observed_at)],
];

export function CompareVideos({ videos, onClose }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.showModal();
  }, []);
  const columns = [
    { key: "figure", label: t("chosen.figure"), render: ([name]) => name },
    ...videos.map((video) => ({
      key: video.aweme_id,
      label: `#${video.rank}`,
      head: html`<span class="compare-head"><${VideoCell} video=${video} /></span>`,
      num: true,
      render: ([, figure]) => figure(video),
    })),
  ];
  return html`
    <dialog class="wide" ref=${box} onClose=${onClose} aria-label=${t("chosen.compared")}>
      <div class="stack">
        <h2>${t("chosen.compared")}</h2>
        <${PlainTable} rows=${FIGURES()} keyOf=${([name]) => name} caption=${t("chosen.compared")} columns=${columns} />
        <div class="row">
          <button type="button" class="button plain" onClick=${() => box.current.close()}>${t("act.close")}</button>
        </div>
      </div>
    </dialog>
  `;
}
