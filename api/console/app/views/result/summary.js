// What a scan found, in one sentence; where to go on; and a drawer with ids, figures and the request.
import { count, day, Foreign, moment, seconds } from "../../format.js";
import { html } from "../../html.js";
import { either, t } from "../../i18n.js";
import { link } from "../../router.js";
import { lang } from "../../state.js";
import { NotePad } from "../../parts/notes.js";
import { Picture } from "../../parts/media/picture.js";
import { Term } from "../../parts/term.js";
import { Figures, Prose, Status } from "../../parts/ui.js";
import "../../messages/chart.js";
import "../../messages/page.js";
import "../../messages/result.js";
import "../../messages/scan.js";

// "2 sped-up versions and 1 short excerpt": how many variants of each form there are.
export function formsText(byForm) {
  const parts = Object.entries(byForm).map(([form, number]) => t(`form.${form}`, { number: count(number) }));
  return new Intl.ListFormat(lang.value, { type: "conjunction" }).format(parts);
}

// "53 videos by 18 creators, 71,630 likes; 2 sped-up versions are hotter".
export function Headline({ job }) {
  const { keyword, search_related: related, totals, variants } = job.result;
  const { hotter } = variants;
  const found = { videos: count(related.returned_count), relevant: count(related.high_relevance_count) };
  const forms = { forms: formsText(hotter.by_form) };
  return html`
    <span class="headline">
      ${keyword === null ? totalsText(totals) : t("headline.by_name", found)}
      ${hotter.count > 0 && t(hotter.count === 1 ? "headline.hotter_one" : "headline.hotter", forms)}
    </span>
  `;
}

// "53 videos by 18 creators, 71,630 likes"; at least so many where the likes of some are unknown.
export function totalsText(totals) {
  const numbers = {
    videos: count(totals.video_count),
    accounts: count(totals.account_count),
    likes: count(totals.digg_count),
  };
  if (totals.digg_count === null) return t("headline.videos", numbers);
  return t(totals.unknown_digg_count ? "headline.likes_at_least" : "headline.likes", numbers);
}

export function Summary({ result, isByName, job }) {
  return html`
    <div class="row small summary">
      ${!isByName && result.music && html`
        <${Picture} kind="track" id=${result.music_id} name=${result.music.title} />
        <span><${Foreign} text=${result.music.author} none=${t("track.no_author")} /></span>
        <a href=${link(["track", result.music_id])}>${t("track.page")}</a>
        <a href=${link(["time", "track", result.music_id])}>${t("track.over_time")}</a>
        <a href=${link(["compare"], { ids: result.music_id })}>${t("track.compare")}</a>
        <${NotePad} kind="track" id=${result.music_id} />
      `}
      <${Notes} notes=${[...fewerNote(result, isByName), ...job.notes]} />
      <${Technical} result=${result} isByName=${isByName} job=${job} />
    </div>
    ${isByName && html`
      <div class="note info"><h2>${t("result.by_name")}</h2><p>${t("result.by_name_hint")}</p></div>
    `}
  `;
}

// A note on what to do if there are fewer rows than requested.
function fewerNote(result, isByName) {
  if (result.count_satisfied || isByName) return [];
  const got = { got: count(result.returned_count), asked: count(result.requested_count) };
  return [
    {
      type: "fewer",
      message: `${t("result.fewer", got)}. ${t("result.fewer_hint")}`,
      message_zh: `${t("result.fewer", got)}。${result.count_note_zh ?? t("result.fewer_hint")}`,
    },
  ];
}

function Notes({ notes }) {
  if (!notes.length) return html`<span class="soft">${t("result.never_all")}</span>`;
  return html`
    <details class="fold">
      <summary>${t("result.never_all")} ${t("result.notes", { number: count(notes.length) })}</summary>
      <ul class="plain soft">
        ${notes.map((note) => html`
          <li key=${note.type}><${Prose} text=${either(note.message, note.message_zh)} /></li>
        `)}
      </ul>
    </details>
  `;
}

// An id that leads to its page.
const Id = ({ place }) => html`<a class="mono" href=${link(place)}>${place.at(-1)}</a>`;

function Technical({ result, isByName, job }) {
  const took = (new Date(job.finished_at) - new Date(job.started_at ?? job.created_at)) / 1000;
  const { music } = result;
  const facts = [
    music && [t("song.music_id"), html`<${Id} place=${["track", result.music_id]} />`],
    music?.created_at && [t("technical.sound"), day(music.created_at)],
    music?.born_with && [t("track.born_with"), html`<${Id} place=${["time", "video", music.born_with.aweme_id]} />`],
    [t("technical.job"), html`<span class="mono">${job.job_id}</span> <${Status} status=${job.status} />`],
    [t("technical.input"), html`<${Foreign} text=${job.input} />`],
    [t("technical.started"), `${moment(job.created_at)} · ${t("job.took", { time: seconds(took) })}`],
  ].filter(Boolean);
  return html`
    <details class="fold">
      <summary>${t("technical.title")}</summary>
      <div class="stack">
        <${Figures} items=${figuresOf(result, isByName)} />
        <dl class="pairs">
          ${facts.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}
        </dl>
        <p>
          <a href=${link(["job", job.job_id], { tab: "coverage" })}>${t("technical.parameters")}</a>
        </p>
      </div>
    </details>
  `;
}

const term = (name) => html`<${Term} names=${[name]} />`;

function figuresOf(result, isByName) {
  const history = result.discovery?.confirmed_graph_observation_history;
  const related = result.search_related;
  if (isByName)
    return [
      [t("fig.related"), count(related.returned_count)],
      [t("fig.high_relevance"), count(related.high_relevance_count), t("fig.high_relevance_note")],
      [t("fig.expanded"), count(related.expanded_candidate_count)],
      [t("fig.pages"), count(related.pagination.pages_fetched)],
    ];
  return [
    [
      t("fig.confirmed"),
      count(result.confirmed_count),
      history && t("fig.new", { number: count(history.new_confirmed_count) }),
      term("confirmed"),
    ],
    [t("fig.accounts"), count(result.unique_account_count), t("fig.at_least")],
    [t("fig.shown"), count(result.returned_count), t("fig.of_asked", { number: count(result.requested_count) })],
    [t("fig.pool"), count(result.candidate_pool_size), "", term("candidate")],
    [t("fig.variants"), count(result.variants.count), t("fig.variants_note"), term("variant")],
    estimateFigure(result.coverage),
  ];
}

// The estimated number of music ids; nothing for results of earlier versions.
function estimateFigure({ estimates }) {
  if (!estimates) return null;
  const { point, interval_95: interval } = estimates.music_ids;
  return (
    point !== null && [
      t("fig.music_ids"),
      count(Math.round(point)),
      t("fig.music_ids_note", { lower: count(interval[0]), upper: count(interval[1]) }),
      term("estimate"),
    ]
  );
}
