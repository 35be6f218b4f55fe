// Who made a track popular: its confirmed videos over time, with the followers of their creators and the likes that
// each brought. Ranks, shares and the order at first are those of the query.
import { unlessAborted } from "../../api.js";
import { count, day, Foreign, percent, safeLink, visible } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { link, useAddress } from "../../router.js";
import { axisText, PAD, shortened, ticks, TimeAxis, useWidth } from "../../parts/charts.js";
import { Picture } from "../../parts/media/picture.js";
import { readRows } from "../../parts/reads.js";
import { sortRows, Table } from "../../parts/table.js";
import { Card, Empty, ErrorNote, Figures, Loading } from "../../parts/ui.js";
import "../../messages/figures.js";
import "../../messages/result.js";

const MOST_ROWS = 2000; // the largest candidate pool of a scan

export function Popularity({ job, query }) {
  const [order, setOrder] = useAddress(["job", job.job_id], query, "order");
  const [state, setState] = useState({});
  const parameters = { music_id: job.result.music_id, job_id: job.scan_job_id ?? job.job_id };
  useEffect(() => {
    const stopping = new AbortController();
    readRows("popularity", { parameters, rowLimit: MOST_ROWS, signal: stopping.signal }).then(
      (rows) => setState({ rows }),
      unlessAborted((error) => setState({ error })),
    );
    return () => stopping.abort();
  }, [parameters.job_id]);
  const { rows, error } = state;
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!rows) return html`<${Loading} tall />`;
  if (!rows.length) return html`<${Empty} title=${t("ranking.empty")}>${t("ranking.empty_hint")}<//>`;
  const dated = rows.filter((row) => row.published_at !== null && row.likes !== null);
  const columns = columnsOfVideos();
  const statement = link(["sql", "popularity"], { "p.music_id": parameters.music_id, "p.job_id": parameters.job_id });
  return html`
    <${Summary} rows=${rows} />
    <p class="small soft">${t("popularity.note")} <a href=${statement}>${t("genealogy.query")}</a></p>
    ${dated.length > 0 && html`
      <${Card} title=${t("popularity.plot")}><${Plot} rows=${dated} undrawn=${rows.length - dated.length} /><//>
    `}
    <${Table}
      name="popularity"
      rows=${sortRows(rows, columns, order)}
      columns=${columns}
      keyOf=${(row) => row.aweme_id}
      caption=${t("tab.popularity")}
      card=${(row) => html`<${VideoCard} row=${row} />`}
      order=${order}
      onOrder=${setOrder}
    />
  `;
}

const published = (row) => `${row.published_at_source === "id" ? "≈ " : ""}${day(row.published_at)}`;

function Creator({ row }) {
  const name = html`<${Foreign} text=${row.nickname} none=${row.sec_uid?.slice(0, 18)} />`;
  return row.sec_uid ? html`<a href=${link(["profile"], { id: row.sec_uid })}>${name}</a>` : name;
}

function Caption({ row, lines }) {
  const address = safeLink(row.share_url);
  const text = html`<span class=${lines}><${Foreign} text=${row.desc} none=${row.aweme_id} /></span>`;
  if (!address) return text;
  return html`<a href=${address} target="_blank" rel="noopener noreferrer" class="title-link">${text}</a>`;
}

// The first creator, and the one whose video brought the most likes.
function Summary({ rows }) {
  const [first] = rows.filter((row) => row.published_at !== null);
  const biggest = rows.find((row) => row.likes_rank === 1 && row.likes !== null);
  const likesOf = (row) =>
    t("popularity.of_all", {
      likes: count(row.likes),
      share: percent(row.likes_share),
      all: count(row.all_likes),
    });
  return html`
    <${Figures}
      items=${[
        first && [t("popularity.first"), html`<${Creator} row=${first} />`, published(first)],
        biggest && [
          t("popularity.biggest"),
          html`<${Creator} row=${biggest} />`,
          `${published(biggest)} · ${likesOf(biggest)}`,
        ],
      ]}
    />
  `;
}

const columnsOfVideos = () => [
  { key: "day", label: t("col.published"), class: "nowrap", value: (row) => row.published_at, render: published },
  {
    key: "creator",
    label: t("popularity.creator"),
    class: "cell-name",
    value: (row) => row.nickname ?? row.sec_uid,
    render: (row) => html`<${Creator} row=${row} />`,
  },
  { key: "followers", label: t("stat.follower_count"), num: true, bar: true, value: (row) => row.follower_count },
  {
    key: "video",
    label: t("col.video"),
    class: "cell-title",
    value: (row) => row.desc,
    render: (row) => html`
      <span class="with-picture">
        <${Picture} kind="video" id=${row.aweme_id} name=${row.desc} /><${Caption} row=${row} lines="two-lines" />
      </span>
    `,
  },
  { key: "likes", label: t("stat.digg_count"), num: true, bar: true, value: (row) => row.likes },
  {
    key: "share",
    label: t("popularity.share"),
    num: true,
    value: (row) => row.likes_share,
    render: (row) => percent(row.likes_share),
  },
  {
    key: "until",
    label: t("popularity.until"),
    num: true,
    value: (row) => row.share_until_then,
    render: (row) => percent(row.share_until_then),
  },
];

function VideoCard({ row }) {
  return html`
    <${Picture} kind="video" id=${row.aweme_id} name=${row.desc} />
    <div class="stack tight">
      <${Caption} row=${row} lines="one-line" />
      <div class="meta"><span><${Creator} row=${row} /></span><span>${published(row)}</span></div>
      <div class="meta">
        <span>${t("stat.digg_count")} <b>${count(row.likes)}</b></span>
        <span>${percent(row.likes_share)}</span>
        <span>${t("stat.follower_count")} <b>${count(row.follower_count)}</b></span>
      </div>
    </div>
  `;
}

const HEIGHT = 300;
const LEAST_PX = 4;
const MOST_PX = 16;
const LABELS = 6; // of the videos with the most likes
const LABEL_LETTERS = 18;
const LETTER_PX = 6.4; // a Chinese character is twice as wide
const LINE_PX = 14;

// The dots of the videos, the largest first, so that small ones lie on top of them.
function dotsOf(rows, x, y) {
  const most = Math.max(1, ...rows.map((row) => row.follower_count ?? 0));
  return rows
    .map((row) => ({
      row,
      x: x(Date.parse(row.published_at)),
      y: y(row.likes),
      r: LEAST_PX + (MOST_PX - LEAST_PX) * Math.sqrt((row.follower_count ?? 0) / most),
    }))
    .sort((dot, other) => other.r - dot.r);
}

const areApart = (box, other) =>
  box.to <= other.from || other.to <= box.from || box.bottom <= other.top || other.bottom <= box.top;

// Labels of the videos with the most likes: right of their dot or left of it, where neither a dot nor another label is.
function labelsOf(dots, width) {
  const placed = [];
  const boxOf = ({ x, y, r }) => ({ from: x - r, to: x + r, top: y - r, bottom: y + r });
  const leaders = dots.filter((dot) => dot.row.likes_rank <= LABELS);
  for (const dot of leaders.sort((one, other) => one.row.likes_rank - other.row.likes_rank)) {
    const text = shortened(visible(dot.row.nickname ?? dot.row.aweme_id), LABEL_LETTERS);
    const wide = [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 2 : 1), 0) * LETTER_PX;
    const gap = dot.r + 4;
    const lines = { top: dot.y - LINE_PX / 2, bottom: dot.y + LINE_PX / 2 };
    const taken = [...placed, ...dots.filter((other) => other !== dot).map(boxOf)];
    const place = [
      { ...lines, x: dot.x + gap, from: dot.x + gap, to: dot.x + gap + wide, anchor: "start" },
      { ...lines, x: dot.x - gap, from: dot.x - gap - wide, to: dot.x - gap, anchor: "end" },
    ].find((box) => box.from >= PAD.left && box.to <= width && taken.every((other) => areApart(box, other)));
    if (place) placed.push({ ...place, key: dot.row.aweme_id, text, y: dot.y });
  }
  return placed;
}

// `rows`: those with a time and likes; `undrawn`: the number of the others.
function Plot({ rows, undrawn }) {
  const [place, width] = useWidth();
  const times = rows.map((row) => Date.parse(row.published_at));
  const room = (Math.max(...times) - Math.min(...times)) * 0.03 || 43e6; // so that no dot is cut off
  const [from, to] = [Math.min(...times) - room, Math.max(...times) + room];
  const top = PAD.top + 14;
  const bottom = HEIGHT - PAD.bottom;
  const most = Math.max(1, ...rows.map((row) => row.likes)) * 1.08;
  const x = (at) => PAD.left + ((at - from) / (to - from)) * (width - PAD.left - PAD.right);
  const y = (likes) => top + (1 - likes / most) * (bottom - MOST_PX - top); // no dot covers the axis of time
  const dots = dotsOf(rows, x, y);
  return html`
    <figure class="stack tight" ref=${place}>
      <svg class="chart" viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${t("popularity.label")}>
        <text class="axis-name" x="2" y="11">${t("stat.digg_count")}</text>
        ${ticks(0, most).map((value) => html`
          <g key=${value}>
            <line class="axis" x1=${PAD.left} x2=${width - PAD.right} y1=${y(value)} y2=${y(value)} />
            <text x=${PAD.left - 8} y=${y(value) + 4} text-anchor="end">${axisText(value, most)}</text>
          </g>
        `)}
        <${TimeAxis} from=${from} to=${to} x=${x} y=${bottom} width=${width} />
        ${dots.map(({
          row,
          ...dot
        }) => html`
          <circle
            key=${row.aweme_id}
            class="mark"
            cx=${dot.x}
            cy=${dot.y}
            r=${dot.r}
            fill=${row.follower_count === null ? "var(--card)" : "var(--c1)"}
            fill-opacity=${row.follower_count === null ? 1 : 0.6}
            stroke="var(--c1)"
            stroke-width="1.5"
          >
            <title>${describe(row)}</title>
          </circle>
        `)}
        ${labelsOf(dots, width).map((label) => html`
          <text class="label" key=${`t${label.key}`} x=${label.x} y=${label.y + 4} text-anchor=${label.anchor}>
            ${label.text}
          </text>
        `)}
      </svg>
      <figcaption class="small soft">
        ${t("popularity.help")}
        ${undrawn > 0 ? ` ${t("genealogy.not_drawn", { number: count(undrawn) })}` : ""}
      </figcaption>
    </figure>
  `;
}

function describe(row) {
  return [
    visible(row.nickname ?? row.aweme_id),
    published(row),
    `${count(row.likes)} ${t("stat.digg_count")}`,
    `${t("stat.follower_count")} ${count(row.follower_count)}`,
  ].join(" · ");
}
