// The videos of a hashtag that a guest can see, and the button that watches it.
import { address, PATHS, request, unlessAborted } from "../api.js";
import { count, published, visible } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { useAddress } from "../router.js";
import { ExportMenu } from "../parts/export.js";
import { Raw } from "../parts/raw.js";
import { sortRows, Table } from "../parts/table.js";
import { Card, Empty, ErrorNote, Head, Loading } from "../parts/ui.js";
import { AccountLink, hashtagsColumn, VideoCard, VideoCell } from "../parts/video.js";
import { WatchButton } from "../parts/watch.js";
import "../messages/accounts.js";
import "../messages/figures.js";
import "../messages/page.js";
import "../messages/result.js";

const [PUBLIC, LIKES, NEWEST] = ["0", "1", "2"]; // orders of the service; it sorts by these two columns

export function HashtagView({ id, query }) {
  const [order, setOrder] = useAddress(["hashtag", id], query, "sort");
  const [state, setState] = useState({});
  const parameters = { ch_id: id, sort_type: [LIKES, NEWEST].includes(order) ? order : PUBLIC };
  const read = async (cursor, signal) =>
    (await request(PATHS.hashtag, { query: { ...parameters, cursor }, signal, isShown: true })).data;
  useEffect(() => {
    const stopping = new AbortController();
    setState({ busy: true });
    read(0, stopping.signal).then(
      (page) => setState({ pages: [page] }),
      unlessAborted((error) => setState({ error })),
    );
    return () => stopping.abort();
  }, [id, parameters.sort_type]);
  const { pages = [], busy, error } = state;
  const more = () => {
    // unless the view has another list by now
    const change = (part) => setState((now) => (now.pages === pages ? { pages, ...part } : now));
    read(pages.at(-1).cursor).then(
      (page) => change({ pages: [...pages, page] }),
      (failure) => change({ error: failure }),
    );
  };
  const rows = pages.flatMap((page) => page.aweme_list);
  return html`
    <${Head} title=${`#${nameOf(id, rows)}`} lead=${t("hashtag.lead")}>
      <${WatchButton} kind="hashtag" id=${id} title=${nameOf(id, rows)} />
    <//>
    <${ErrorNote} error=${error} />
    ${busy && html`<${Card}><${Loading} rows=${6} /><//>`}
    ${pages.length > 0 && html`
      <${Videos} ...${{ pages, rows, order, setOrder, more }} source=${address(PATHS.hashtag, parameters)} />
    `}
    <${Raw} />
  `;
}

// The name of the hashtag, as one of its videos states it, or its id.
function nameOf(id, rows) {
  const hashtags = rows.flatMap((row) => row.hashtags ?? []);
  return visible(hashtags.find((hashtag) => hashtag.ch_id === id)?.name ?? id);
}

function Videos({ pages, rows, order, setOrder, more, source }) {
  if (!rows.length) return html`<${Empty} title=${t("hashtag.none")} icon="grid">${t("hashtag.none_hint")}<//>`;
  const last = pages.at(-1);
  const columns = columnsOfVideos();
  return html`
    <div class="row apart">
      <p class="small soft">
        ${t("posts.note", {
          shown: count(rows.length),
          union: count(last.public_observed_union_count),
          snapshots: count(last.observation_history?.snapshot_count),
        })}
      </p>
      <${ExportMenu}
        source=${source}
        table="videos"
        label=${pages.length > 1 ? t("export.first_page", { number: count(pages[0].aweme_list.length) }) : undefined}
      />
    </div>
    <${Table}
      name="hashtag"
      rows=${sortRows(rows, columns, order)}
      columns=${columns}
      keyOf=${(row) => row.aweme_id}
      caption=${t("stat.aweme_count")}
      order=${order}
      onOrder=${setOrder}
      card=${(row) => html`<${VideoCard} video=${row} />`}
    />
    ${last.has_more && html`
      <div class="row"><button type="button" class="button" onClick=${more}>${t("act.more")}</button></div>
    `}
  `;
}

function columnsOfVideos() {
  const countOf = (name) => ({
    key: name,
    label: t(`stat.${name}`),
    num: true,
    bar: true,
    value: (row) => row.statistics?.[name],
  });
  return [
    {
      key: "video",
      label: t("col.video"),
      class: "cell-title",
      value: (row) => row.desc,
      render: (row) => html`<${VideoCell} video=${row} />`,
    },
    {
      key: "author",
      label: t("col.account"),
      class: "cell-name",
      value: (row) => row.author?.nickname,
      render: (row) => html`<${AccountLink} author=${row.author} />`,
    },
    { ...countOf("digg_count"), sort: [LIKES] },
    countOf("comment_count"),
    countOf("collect_count"),
    countOf("share_count"),
    { key: "date", label: t("col.published"), num: true, sort: [NEWEST], render: published },
    hashtagsColumn(),
  ];
}
