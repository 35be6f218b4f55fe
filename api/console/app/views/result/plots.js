// Plots of a result: publication and likes over time, top creators, link types, and the same-track graph.
import { address, PATHS } from "../../api.js";
import { compact, count, Foreign, moment, safeLink, visible } from "../../format.js";
import { html, useMemo, useState } from "../../html.js";
import { either, labelOf, t, termNames } from "../../i18n.js";
import { link } from "../../router.js";
import {
  Bars,
  COLORS,
  LineChart,
  LogScatter,
  SHAPES,
  ShareCurve,
  shortened,
  useWidth,
} from "../../parts/charts.js";
import { useDocument } from "../../parts/reads.js";
import { Card, Empty, ErrorNote, Loading } from "../../parts/ui.js";
import "../../messages/accounts.js";
import "../../messages/chart.js";
import "../../messages/figures.js";
import "../../messages/result.js";

const MOST_BARS = 12;

// A plot with its finding as title, its text alternative and its notes; without points, a sentence.
function Plot({ plot, children }) {
  return html`
    <${Card} title=${either(plot.title, plot.title_zh)}>
      ${plot.points.length ? children : html`<p class="soft small">${t("chart.no_points")}</p>`}
      <p class="hidden">${either(plot.alternative, plot.alternative_zh)}</p>
      <p class="small soft">${either(plot.note, plot.note_zh)}</p>
    <//>
  `;
}

// The plots of a scan, of all its confirmed videos. What they show and their findings come from the service, so that
// the shared file says the same.
export function Plots({ job, result, viewed: { view } }) {
  const threshold = view.viral_threshold;
  const { data, error } = useDocument(
    address(`${PATHS.jobList}/${job.job_id}/plots`, { viral_threshold: String(threshold) }),
  );
  if (!result.confirmed_count) return html`<${Empty} title=${t("ranking.empty")}>${t("ranking.empty_hint")}<//>`;
  const linkOf = (video) =>
    video.evidence ? link(["evidence", video.evidence.comparison_id]) : safeLink(video.share_url);
  return html`
    <${ErrorNote} error=${error} />
    ${!data && !error && html`<${Loading} tall />`}
    ${data && html`
      <${Publication} plot=${data.publication} />
      <${Likes} plot=${data.likes} />
      <${Creators} plot=${data.creators} accounts=${result.account_summary.accounts} />
      <${Links} plot=${data.links} />
    `}
    ${result.aweme_list.length > 0 && html`
      <${Card} title=${t("graph.title")} aside=${html`<span class="small soft">${t("graph.size")}</span>`}>
        <${Graph} result=${result} linkOf=${linkOf} />
        ${result.aweme_list.length < result.confirmed_count && html`
          <p class="small soft">
            ${t("plot.ranked", { shown: count(result.aweme_list.length), all: count(result.confirmed_count) })}
          </p>
        `}
      <//>
    `}
  `;
}

function Publication({ plot }) {
  const panel = (name, field, color) => {
    const title = labelOf("axis", name);
    const series = [
      { key: name, name: title, color, points: plot.points.map((point) => [point.published_at, point[field]]) },
    ];
    return html`
      <${LineChart}
        key=${name}
        label=${title}
        unit=${title}
        series=${series}
        height=${200}
        isContinuous
        isFromZero
        isUtc
      />
    `;
  };
  return html`
    <${Plot} plot=${plot}>
      <div class="grid two">
        ${panel("videos", "video_count", COLORS[0])} ${panel("likes", "digg_count", COLORS[1])}
      </div>
    <//>
  `;
}

function Likes({ plot }) {
  const kinds = termNames("link").filter((kind) => plot.points.some((point) => point.link_type === kind));
  const likesOf = (number) => `${count(number)} ${t("stat.digg_count").toLocaleLowerCase()}`;
  const points = plot.points.map((point) => {
    const at = Date.parse(point.published_at);
    const name = visible(point.nickname ?? "");
    return {
      key: point.aweme_id,
      at,
      value: point.digg_count,
      shape: SHAPES[kinds.indexOf(point.link_type)],
      color: COLORS[kinds.indexOf(point.link_type)],
      text: [`${moment(at / 1000, "UTC")} UTC`, name, likesOf(point.digg_count), labelOf("link", point.link_type)]
        .filter(Boolean)
        .join(" · "),
      label: point.is_labelled && `${shortened(name, 18)} ${count(point.digg_count)}`.trim(),
    };
  });
  return html`
    <${Plot} plot=${plot}>
      ${kinds.length > 1 && html`
        <div class="legend">
          ${kinds.map((kind, at) => html`
            <span key=${kind}>
              <svg width="14" height="12" viewBox="-7 -6 14 12" aria-hidden="true">
                <path d=${SHAPES[at]} fill=${COLORS[at]} />
              </svg>${" "}
              ${labelOf("link", kind)}
            </span>
          `)}
        </div>
      `}
      <${LogScatter}
        points=${points}
        label=${either(plot.title, plot.title_zh)}
        unit=${labelOf("axis", "likes")}
        line=${{ value: plot.viral_threshold, name: likesOf(plot.viral_threshold) }}
      />
    <//>
  `;
}

function Creators({ plot, accounts }) {
  const top = [...accounts]
    .sort((a, b) => (b.linked_digg_count ?? -1) - (a.linked_digg_count ?? -1))
    .slice(0, MOST_BARS)
    .map((account) => ({
      key: account.sec_uid,
      name: html`<${Foreign} text=${account.nickname} />`,
      value: account.linked_digg_count,
      text: compact(account.linked_digg_count),
    }));
  return html`
    <${Plot} plot=${plot}>
      <div class="grid two">
        <${ShareCurve}
          points=${plot.points.map((point) => ({ number: point.account_count, share: point.digg_share }))}
          label=${either(plot.alternative, plot.alternative_zh)}
          unit=${labelOf("axis", "likes_share")}
          numberUnit=${labelOf("axis", "creators")}
          marked=${plot.points.findIndex((point) => point.account_count === plot.half_count)}
          name=${either(plot.mark, plot.mark_zh)}
        />
        <div class="stack tight">
          <h3>${t("plot.accounts")}</h3>
          <${Bars} items=${top} label=${t("plot.accounts")} />
        </div>
      </div>
    <//>
  `;
}

function Links({ plot }) {
  const items = plot.points.map((point) => ({
    key: point.link_type,
    name: labelOf("link", point.link_type),
    value: point.video_count,
  }));
  return html`<${Plot} plot=${plot}><${Bars} items=${items} label=${either(plot.title, plot.title_zh)} /><//>`;
}

const SIZE = 720;
const MIDDLE = SIZE / 2;
const RING = 150;
const OUTER = 250;
const MAX_VIDEOS = 300;
const RING_ROOM = 24; // along the circle of the music ids

function layout(result) {
  const all = [
    ...result.aweme_list,
    ...(result.variants?.aweme_list ?? []).map((video) => ({ ...video, link_type: "variant" })),
  ];
  const videos = all.slice(0, MAX_VIDEOS);
  const groups = new Map();
  for (const video of videos) {
    const id = video.source_music_id ?? result.music_id;
    if (!groups.has(id))
      groups.set(id, { id, title: video.source_music_title ?? video.music?.title ?? id, videos: [] });
    groups.get(id).videos.push(video);
  }
  const sorted = [...groups.values()].sort((a, b) => b.videos.length - a.videos.length);
  const most = Math.max(1, ...videos.map((video) => video.hot_score ?? 0));
  let angle = -Math.PI / 2;
  // each music id has room for its ring; what is left is shared by the videos
  const room = Math.min(RING_ROOM / RING, Math.PI / sorted.length);
  const share = (2 * Math.PI - room * sorted.length) / Math.max(1, videos.length);
  const musics = sorted.map((group, at) => {
    const wide = room + share * group.videos.length;
    const isInput = group.id === result.music_id;
    const centre = angle + wide / 2;
    const node = {
      ...group,
      isInput,
      color: isInput ? "var(--accent)" : COLORS[(at + 1) % COLORS.length],
      x: isInput ? MIDDLE : MIDDLE + RING * Math.cos(centre),
      y: isInput ? MIDDLE : MIDDLE + RING * Math.sin(centre),
      videos: group.videos.map((video, place) => {
        const own = angle + (wide / group.videos.length) * (place + 0.5);
        const far = OUTER + (place % 3) * 30;
        return {
          video,
          x: MIDDLE + far * Math.cos(own),
          y: MIDDLE + far * Math.sin(own),
          r: 4 + 9 * Math.sqrt((video.hot_score ?? 0) / most),
        };
      }),
    };
    angle += wide;
    return node;
  });
  return { musics, isCut: all.length > videos.length };
}

const TEXT = 11; // height of letters, in pixels of the page
const NEAR = 14; // from the middle of a node to its label
const covers = (box, other) =>
  box.from < other.to && other.from < box.to && box.top < other.bottom && other.top < box.bottom;
const boxOf = ({ x, y, r }) => ({ from: x - r, to: x + r, top: y - r, bottom: y + r });

// The places a label may take: outside of its node, inside, above, below. `size`: of its letters, in units of the
// picture.
function placesFor(music, wide, size) {
  const outer = music.x < MIDDLE ? "end" : "start";
  const beside = (anchor) => ({ anchor, x: music.x + (anchor === "end" ? -NEAR : NEAR), y: music.y + size * 0.36 });
  return [
    beside(outer),
    beside(outer === "end" ? "start" : "end"),
    { anchor: "middle", x: music.x, y: music.y - NEAR },
    { anchor: "middle", x: music.x, y: music.y + NEAR + size * 0.8 },
  ].map((place) => {
    const from = place.x - { start: 0, middle: wide / 2, end: wide }[place.anchor];
    return { ...place, from, to: from + wide, top: place.y - size * 0.9, bottom: place.y + size * 0.3 };
  });
}

// Labels of music ids, in the first place that is free of dots and of other labels; a label without such a place is
// left out.
function labelsOf(musics, size = TEXT) {
  const centre = { from: MIDDLE - 90, to: MIDDLE + 90, top: MIDDLE - 20, bottom: MIDDLE + 28 + size };
  const taken = [
    centre,
    ...musics.flatMap((music) => [...music.videos.map(boxOf), ...(music.isInput ? [] : [boxOf({ ...music, r: 11 })])]),
  ];
  const kept = [];
  for (const music of musics.filter((node) => !node.isInput)) {
    const text = shortened(visible(music.title), 18);
    const wide = [...text].reduce((sum, sign) => sum + (/[\u2e80-\uffff…@]/.test(sign) ? size : size * 0.58), 0);
    const place = placesFor(music, wide, size).find(
      (label) => label.from >= 0 && label.to <= SIZE && !taken.some((other) => covers(label, other)),
    );
    if (!place) continue;
    taken.push(place);
    kept.push({ id: music.id, text, ...place });
  }
  return kept;
}

function Graph({ result, linkOf }) {
  const { musics, isCut } = useMemo(() => layout(result), [result]);
  const [focused, setFocused] = useState(null);
  const [place, width] = useWidth();
  const size = TEXT * Math.max(1, SIZE / width); // on a phone, too
  const centre = { x: MIDDLE, y: MIDDLE };
  return html`
    <figure class="stack tight" ref=${place}>
      <svg class="graph" font-size=${size} viewBox=${`0 0 ${SIZE} ${SIZE}`} role="group" aria-label=${t("graph.label")}>
        ${musics.map((music) => html`
          <g key=${`l${music.id}`}>
            ${!music.isInput && html`
              <line x1=${centre.x} y1=${centre.y} x2=${music.x} y2=${music.y} stroke-width="2" />
            `}
            ${music.videos.map((item) => html`
              <line
                key=${item.video.aweme_id}
                x1=${music.x}
                y1=${music.y}
                x2=${item.x}
                y2=${item.y}
                stroke-dasharray=${item.video.link_type === "variant" ? "4 4" : undefined}
              />
            `)}
          </g>
        `)}
        ${musics.map((music) => html`
          <g key=${music.id}>
            ${music.videos.map((item) => html`
              <a
                key=${item.video.aweme_id}
                href=${linkOf(item.video) ?? undefined}
                aria-label=${describe(item.video)}
                onFocus=${() => setFocused(item.video)}
                onPointerEnter=${() => setFocused(item.video)}
              >
                <circle
                  class="node"
                  cx=${item.x}
                  cy=${item.y}
                  r=${item.r}
                  fill=${music.color}
                  fill-opacity=${item.video.link_type === "variant" ? 0.35 : 0.85}
                  stroke=${music.color}
                />
              </a>
            `)}
            ${!music.isInput && html`
              <circle cx=${music.x} cy=${music.y} r="9" fill="var(--card)" stroke=${music.color} stroke-width="4">
                <title>${visible(music.title)}</title>
              </circle>
            `}
          </g>
        `)}
        <circle cx=${MIDDLE} cy=${MIDDLE} r="20" fill="var(--accent)" />
        <text x=${MIDDLE} y=${MIDDLE + 26 + size} text-anchor="middle">
          ${visible(result.music?.title ?? result.music_id).slice(0, 40)}
        </text>
        ${labelsOf(musics, size).map((label) => html`
          <text key=${`t${label.id}`} x=${label.x} y=${label.y} text-anchor=${label.anchor}>${label.text}</text>
        `)}
      </svg>
      <figcaption class="small soft">
        ${focused ? describe(focused) : t("graph.help")}
        ${isCut ? ` ${t("graph.cut", { most: MAX_VIDEOS })}` : ""}
      </figcaption>
    </figure>
  `;
}

function describe(video) {
  const kind = video.link_type === "variant" ? t("graph.variant") : labelOf("link", video.link_type);
  const caption = visible(video.desc || video.aweme_id).slice(0, 80);
  const likes = `${compact(video.statistics?.digg_count)} ${t("stat.digg_count")}`;
  return [caption, visible(video.author?.nickname ?? ""), likes, kind].join(" · ");
}
