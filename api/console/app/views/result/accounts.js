// The accounts of the confirmed videos of a scan.
import { PATHS } from "../../api.js";
import { compact, count, Foreign } from "../../format.js";
import { html } from "../../html.js";
import { t } from "../../i18n.js";
import { link, useAddress } from "../../router.js";
import { ExportMenu } from "../../parts/export.js";
import { Picture } from "../../parts/media/picture.js";
import { sortRows, Table } from "../../parts/table.js";
import { Empty } from "../../parts/ui.js";
import "../../messages/accounts.js";
import "../../messages/figures.js";
import "../../messages/page.js";
import "../../messages/result.js";

export function Accounts({ job, query }) {
  const [order, setOrder] = useAddress(["job", job.job_id], query, "order");
  const accounts = job.result.account_summary.accounts;
  if (!accounts.length)
    return html`<${Empty} title=${t("accounts.empty")} icon="person">${t("accounts.empty_hint")}<//>`;
  const columns = columnsOfAccounts();
  return html`
    <div class="row apart">
      <p class="small soft">${t("accounts.note")}</p>
      <${ExportMenu} source=${`${PATHS.jobs}/${job.job_id}`} table="accounts" />
    </div>
    <${Table}
      name="accounts"
      rows=${sortRows(accounts, columns, order)}
      columns=${columns}
      keyOf=${(row) => row.sec_uid}
      caption=${t("tab.accounts")}
      card=${(row) => html`<${AccountCard} row=${row} />`}
      order=${order}
      onOrder=${setOrder}
    />
  `;
}

function columnsOfAccounts() {
  const number = (key, label, value) => ({ key, label, value, num: true, bar: true });
  return [
    {
      key: "name",
      label: t("col.account"),
      class: "cell-title",
      value: (row) => row.nickname,
      render: (row) => html`
        <span class="with-picture">
          <${Picture} kind="account" id=${row.sec_uid} name=${row.nickname} />
          <span>
            <a href=${link(["profile"], { id: row.sec_uid })}>
              <${Foreign} text=${row.nickname} none=${row.sec_uid.slice(0, 18)} />
            </a>
            <div class="tiny soft"><${Foreign} text=${row.unique_id} /></div>
          </span>
        </span>
      `,
    },
    number("linked", t("col.linked"), (row) => row.linked_video_count),
    number("likes", t("col.linked_likes"), (row) => row.linked_digg_count),
    number("comments", t("stat.comment_count"), (row) => row.linked_comment_count),
    number("collects", t("stat.collect_count"), (row) => row.linked_collect_count),
    number("shares", t("stat.share_count"), (row) => row.linked_share_count),
    number("followers", t("stat.follower_count"), (row) => row.follower_count),
    number("total", t("stat.total_favorited"), (row) => row.total_favorited),
    number("works", t("stat.aweme_count"), (row) => row.aweme_count),
    {
      key: "top",
      label: t("col.top"),
      class: "cell-name",
      value: (row) => row.top_video?.desc,
      render: (row) => html`
        <span class="two-lines"><${Foreign} text=${row.top_video?.desc} none=${row.top_video?.aweme_id} /></span>
      `,
    },
  ];
}

function AccountCard({ row }) {
  return html`
    <${Picture} kind="account" id=${row.sec_uid} name=${row.nickname} />
    <div class="stack tight">
      <a href=${link(["profile"], { id: row.sec_uid })} class="one-line">
        <${Foreign} text=${row.nickname} none=${row.sec_uid} />
      </a>
      <div class="meta">
        <span><${Foreign} text=${row.unique_id} /></span>
        <span>${t("col.linked")} <b>${count(row.linked_video_count)}</b></span>
      </div>
      <div class="meta">
        <span>${t("stat.digg_count")} <b>${compact(row.linked_digg_count)}</b></span>
        <span>${t("stat.follower_count")} <b>${compact(row.follower_count)}</b></span>
      </div>
    </div>
  `;
}
