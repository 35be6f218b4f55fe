// All audio comparisons of a scan, including rejected ones.
import { PATHS } from "../../api.js";
import { count, decimal } from "../../format.js";
import { html } from "../../html.js";
import { labelOf, t } from "../../i18n.js";
import { link, useAddress } from "../../router.js";
import { ExportMenu, SaveRows } from "../../parts/export.js";
import { PlayButton } from "../../parts/media/play_button.js";
import { useDocument } from "../../parts/reads.js";
import { sortRows, Table } from "../../parts/table.js";
import { Term } from "../../parts/term.js";
import { Badge, CheckField, Empty, ErrorNote, Loading } from "../../parts/ui.js";
import { ComparedVideo, likelyKind, VERDICTS } from "../../parts/video.js";
import "../../messages/evidence.js";
import "../../messages/page.js";
import "../../messages/result.js";

const BY_SCORE = "-score";

export function Comparisons({ job, query }) {
  const [verdict, setVerdict] = useAddress(["job", job.job_id], query, "verdict");
  const [pairsOf, setPairsOf] = useAddress(["job", job.job_id], query, "pairs");
  const [chosenOrder, setOrder] = useAddress(["job", job.job_id], query, "order");
  const order = chosenOrder || BY_SCORE;
  const isWhole = pairsOf === "all"; // all pairs, not only the one of each candidate that decides
  const source = `${PATHS.jobList}/${job.job_id}/comparisons`;
  const { data, error } = useDocument(source);
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!data) return html`<${Loading} tall />`;
  const { comparisons: allPairs, deciding_ids: deciding, videos } = data;
  if (!allPairs.length) return html`<${Empty} title=${t("comparisons.empty")}>${t("comparisons.empty_hint")}<//>`;
  const pairs = isWhole ? allPairs : allPairs.filter((pair) => deciding.includes(pair.comparison_id));
  const columns = columnsOf(videos);
  const withVerdict = pairs.filter((pair) => !verdict || pair.verdict === verdict);
  const rows = sortRows(withVerdict, columns, order);
  const card = (row) => html`
    <span></span>
    <div class="stack tight">
      <div class="meta">
        <span><${Badge} tone=${VERDICTS[row.verdict] ?? ""}>${t(`verdict.${row.verdict}`)}<//></span>
        <span>${t("measure.score")} <b>${decimal(row.score, 3)}</b></span>
        <${PlayButton} id=${row.comparison_id} />
        <a href=${link(["evidence", row.comparison_id])}>${t("act.open")}</a>
      </div>
      <div>
        <${ComparedVideo}
          id=${row.candidate_aweme_id}
          musicId=${row.candidate_music_id}
          video=${videos[row.candidate_aweme_id]}
        />
      </div>
      <div class="meta"><span>${reasonText(row)}</span></div>
    </div>
  `;
  return html`
    <div class="row apart">
      <p class="small soft">${t("comparisons.note")}</p>
      <div class="row">
        ${rows.length < allPairs.length && html`
          <${SaveRows}
            rows=${rows}
            title=${job.result.music?.title}
            name=${t("tab.comparisons")}
            table="comparisons"
          />
        `}
        <${ExportMenu}
          source=${source}
          table="comparisons"
          label=${
            rows.length < allPairs.length ? t("export.unfiltered", { number: count(allPairs.length) }) : undefined
          }
        />
      </div>
    </div>
    <div class="row" role="group" aria-label=${t("col.verdict")}>
      ${["", ...Object.keys(VERDICTS)].map((name) => html`
        <button
          type="button"
          key=${name}
          class="button little"
          aria-pressed=${String(verdict === name)}
          onClick=${() => setVerdict(name)}
        >
          ${name ? t(`verdict.${name}`) : t("act.all")}${" "}
          <span class="soft">${count(pairs.filter((pair) => !name || pair.verdict === name).length)}</span>
        </button>
      `)}
      <${Term} names=${Object.keys(VERDICTS)} />
      <${CheckField}
        label=${t("comparisons.all_pairs", { number: count(allPairs.length) })}
        value=${isWhole}
        onChange=${(isAll) => setPairsOf(isAll ? "all" : "")}
      />
    </div>
    ${rows.length ? html`
      <${Table}
        rows=${rows}
        columns=${columns}
        keyOf=${(row) => row.comparison_id}
        caption=${t("tab.comparisons")}
        name="comparisons"
        order=${order}
        onOrder=${setOrder}
        card=${card}
      />
    ` : html`<${Empty} title=${t("filter.none")} />`}
  `;
}

// What a pair shares or is likely to be, if anything, then the rule that decided.
const reasonText = (row) => [likelyKind(row), labelOf("reason", row.reason)].filter(Boolean).join(" · ");

function columnsOf(videos) {
  const figure = (key, digits) => ({
    key,
    label: t(`comparisons.${key}`),
    num: true,
    value: (row) => row[key],
    render: (row) => decimal(row[key], digits),
  });
  return [
    {
      key: "verdict",
      label: t("col.verdict"),
      value: (row) => t(`verdict.${row.verdict}`),
      render: (row) => html`<${Badge} tone=${VERDICTS[row.verdict] ?? ""}>${t(`verdict.${row.verdict}`)}<//>`,
    },
    {
      key: "candidate",
      label: t("col.candidate"),
      class: "cell-title",
      value: (row) => videos[row.candidate_aweme_id]?.desc,
      render: (row) => html`
        <${ComparedVideo}
          id=${row.candidate_aweme_id}
          musicId=${row.candidate_music_id}
          video=${videos[row.candidate_aweme_id]}
        />
      `,
    },
    {
      key: "open",
      label: t("col.evidence"),
      class: "nowrap",
      render: (row) => html`
        <${PlayButton} id=${row.comparison_id} /> <a href=${link(["evidence", row.comparison_id])}>${t("act.open")}</a>
      `,
    },
    figure("score", 3),
    figure("chroma_distance", 3),
    figure("mfcc_distance", 3),
    figure("overlap_s", 1),
    {
      key: "reason",
      label: t("col.reason"),
      class: "cell-name",
      value: reasonText,
      render: (row) => html`<span class="two-lines">${reasonText(row)}</span>`,
    },
  ];
}
