// Videos as rows, cards and pairs show them: caption with its link, account, link type and verdict.
import { compact, Foreign, safeLink } from "../format.js";
import { html } from "../html.js";
import { labelOf, t } from "../i18n.js";
import { link } from "../router.js";
import { Picture } from "./picture.js";
import { PlayButton } from "./play_button.js";
import { Badge } from "./ui.js";
import "../messages/accounts.js";
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

export function VideoCell({ video }) {
  const address = safeLink(video.share_url);
  const text = html`<span class="two-lines"><${Foreign} text=${video.desc} none=${video.aweme_id} /></span>`;
  return html`
    <span class="with-picture">
      <${Picture} kind="video" id=${video.aweme_id} name=${video.desc} />
      ${address ? html`
        <a href=${address} target="_blank" rel="noopener noreferrer" class="title-link">${text}</a>
      ` : text}
    </span>
  `;
}

export function VideoCard({ video }) {
  return html`
    <span class="rank">${video.rank ?? ""}</span>
    <div class="stack tight">
      <${VideoCell} video=${video} />
      <div class="meta">
        <span><${Foreign} text=${video.author?.nickname} /></span>
        <span>${t("stat.hot_score")} <b>${compact(video.hot_score)}</b></span>
        <span>${t("stat.digg_count")} <b>${compact(video.statistics?.digg_count)}</b></span>
      </div>
      <div class="meta">
        ${video.variant_kind && html`<${Badge} tone="warn">${labelOf("variant", video.variant_kind)}<//>`}
        ${video.link_type && html`<${LinkBadge} video=${video} />`}
        ${video.search_relevance_level && html`<${Badge}>${labelOf("relevance", video.search_relevance_level)}<//>`}
        ${video.evidence && html`
          <${PlayButton} id=${video.evidence.comparison_id} />
          <a href=${link(["evidence", video.evidence.comparison_id])}>${t("act.show_evidence")}</a>
        `}
      </div>
    </div>
  `;
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
          <span class="mono">♪ ${musicId}</span>
        </div>
      </span>
    </span>
  `;
}
