// Videos as rows, cards and pairs show them: caption with its link, account, link type and verdict.
import { compact, DASH, Foreign, safeLink } from "../format.js";
import { html } from "../html.js";
import { labelOf, t } from "../i18n.js";
import { link } from "../router.js";
import { Picture } from "./media/picture.js";
import { PlayButton } from "./media/play_button.js";
import { Badge, Icon } from "./ui.js";
import "../messages/accounts.js";
import "../messages/evidence.js";
import "../messages/figures.js";
import "../messages/page.js";

const LINK_TONES = {
  exact_music_id: "info",
  audio_fingerprint_match: "good",
  verified_music_id_graph: "accent",
};

export function LinkBadge({ video }) {
  return html`<${Badge} tone=${LINK_TONES[video.link_type] ?? ""}>${labelOf("link", video.link_type)}<//>`;
}

// The sound of a video that a scan has linked or found changed, as `PlayButton` takes it: the compared stretch, or the
// beginning where its own sound was not compared.
function soundOf({ aweme_id: id, audio_check: check }) {
  if (check.kind === "compared") return { id: check.comparison_id };
  return check.kind === "reference" ? { id: check.comparison_id, role: "reference" } : { video: id };
}

// What the service says of a video's own sound: its comparison, or that it was not listened to; with a play button.
export function AudioCheck({ video }) {
  const check = video.audio_check;
  if (!check) return null;
  const isOwn = check.kind === "compared";
  const text = isOwn ? t(`verdict.${check.verdict}`) : labelOf("audio_check", check.kind);
  return html`
    <span class="audio-check">
      <${PlayButton} ...${soundOf(video)} />
      ${check.comparison_id ? html`
        <a href=${link(["evidence", check.comparison_id])} class=${isOwn ? `verdict ${VERDICTS[check.verdict]}` : ""}>
          ${text}
        </a>
      ` : html`<span class="soft">${text}</span>`}
    </span>
  `;
}

// The account of a video with its profile in the console; its name alone if the source did not state its id.
export function AccountLink({ author }) {
  const name = html`<${Foreign} text=${author?.nickname} none=${author?.sec_uid?.slice(0, 18) ?? "—"} />`;
  return author?.sec_uid
    ? html`<a class="one-line" href=${link(["profile"], { id: author.sec_uid })}>${name}</a>`
    : html`<span class="one-line">${name}</span>`;
}

// The hashtags of a video, each with its videos; a dash if the source did not show them. `most`: how many to show.
function Hashtags({ video, most }) {
  if (!video.hashtags) return html`<span class="soft">${DASH}</span>`;
  return video.hashtags.slice(0, most).map((hashtag) => html`
    <a key=${hashtag.ch_id} class="chip" href=${link(["hashtag", hashtag.ch_id])}>
      #<${Foreign} text=${hashtag.name} none=${hashtag.ch_id} />
    </a>${" "}
  `);
}

export const hashtagsColumn = () => ({
  key: "hashtags",
  label: t("hashtag.tags"),
  class: "cell-name",
  value: (video) => video.hashtags?.map((hashtag) => hashtag.name).join(" "),
  render: (video) => html`<span class="two-lines"><${Hashtags} video=${video} /></span>`,
});

// What a variant changes, in the words of users, with its speed.
function VariantBadge({ video }) {
  const speed = video.speed && video.speed !== 1 ? ` × ${video.speed.toFixed(2)}` : "";
  return html`<${Badge} tone="warn">${labelOf("variant", video.variant_kind)}${speed}<//>`;
}

// `isMarked`: a variant says so.
export function VideoCell({ video, isMarked = true }) {
  const address = safeLink(video.share_url);
  const isVariant = isMarked && video.variant_kind;
  const text = html`
    <span class=${isVariant ? "one-line" : "two-lines"}>
      <${Foreign} text=${video.desc} none=${video.aweme_id} />
    </span>
  `;
  return html`
    <span class="with-picture">
      <span class="cover">
        <${Picture} kind="video" id=${video.aweme_id} name=${video.desc} />
        ${video.audio_check && html`<${PlayButton} ...${soundOf(video)} isOverlay />`}
      </span>
      <span>
        ${address ? html`
          <a href=${address} target="_blank" rel="noopener noreferrer" class="title-link">${text}</a>
        ` : text}
        ${isVariant && html`<${VariantBadge} video=${video} />`}
      </span>
    </span>
  `;
}

const MOST_ON_CARD = 2;
const COUNT_ICONS = { digg_count: "heart", comment_count: "speech", collect_count: "keep", share_count: "share" };

// A figure with its name, as it stands on a card.
export const CardFigure = ({ name, children }) => html`<span>${name} <b>${children}</b></span>`;

// A video on a phone; `pick`: the box that chooses it, `action`: a button of the row, `figure`: what it is ordered by.
export function VideoCard({ video, pick, action, figure }) {
  return html`
    <span class="rank">${video.rank ?? ""}${pick}</span>
    <div class="stack tight">
      <${VideoCell} video=${video} />
      <div class="meta">
        <${AccountLink} author=${video.author} />
        ${figure ?? html`<${CardFigure} name=${t("stat.hot_score")}>${compact(video.hot_score)}<//>`}
      </div>
      <div class="meta counts">
        ${Object.entries(COUNT_ICONS).map(([name, icon]) => html`
          <span key=${name} title=${t(`stat.${name}`)}>
            <${Icon} name=${icon} /><span class="hidden">${t(`stat.${name}`)}</span>
            ${" "}<b>${compact(video.statistics[name])}</b>
          </span>
        `)}
      </div>
      <div class="meta">
        ${video.audio_check ? html`<${AudioCheck} video=${video} />` : video.link_type && html`
          <${LinkBadge} video=${video} />
        `}
        ${video.search_relevance_level && html`<${Badge}>${labelOf("relevance", video.search_relevance_level)}<//>`}
        ${action}
        ${video.hashtags && html`<${Hashtags} video=${video} most=${MOST_ON_CARD} />`}
      </div>
    </div>
  `;
}

// In a few words what a rejected pair shares, or else is likely to be.
export function likelyKind(pair) {
  if (pair.shared_part) return labelOf("shared_part", pair.shared_part);
  if (pair.relation === "version") return labelOf("relation", pair.relation);
  return pair.observation ? labelOf("observation", pair.observation) : "";
}

export const VERDICTS = { confirmed: "good", variant: "warn", rejected: "bad", not_comparable: "" };

// Id of the reference: a video, or a song of the music service.
export const referenceId = (pair) => pair.reference_aweme_id ?? pair.reference_service_track_id;

// Caption with its public link, account and music id of a compared video; its id if it was never observed.
export function ComparedVideo({ id, musicId, video }) {
  const address = safeLink(video?.share_url);
  const isSong = video && !video.sec_uid; // of the music service: the cover is that of the track
  const caption = html`<span class="one-line"><${Foreign} text=${video?.desc} none=${id ?? "—"} /></span>`;
  return html`
    <span class="with-picture">
      <${Picture} kind=${isSong ? "track" : "video"} id=${isSong ? musicId : video && id} name=${video?.desc} />
      <span>
        ${address ? html`
          <a href=${address} target="_blank" rel="noopener noreferrer" class="title-link">${caption}</a>
        ` : caption}
        <div class="tiny soft">
          ${video?.sec_uid ? html`
            <a href=${link(["profile"], { id: video.sec_uid })}>
              <${Foreign} text=${video.nickname} none=${video.sec_uid.slice(0, 18)} />
            </a>${" "}
          ` : video?.nickname && html`<${Foreign} text=${video.nickname} />${" "}`}
          ${musicId && html`<a class="mono" href=${link(["track", musicId])}>♪ ${musicId}</a>`}
        </div>
      </span>
    </span>
  `;
}
