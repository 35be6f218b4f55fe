// Plays the kept excerpt of a compared video in its row, or the beginning of one that was not compared; one at a time.
import { address, fetchBlob, PATHS } from "../../api.js";
import { html, signal } from "../../html.js";
import { t } from "../../i18n.js";
import { notify } from "../../state.js";
import { Icon, notifyError } from "../ui.js";
import "../../messages/page.js";

const playing = signal(null); // path of the sound that plays
let sound = null;
let requestNumber = 0; // of the last press: an excerpt that an earlier press loaded is not played

function stop() {
  requestNumber += 1;
  if (sound) {
    sound.pause();
    URL.revokeObjectURL(sound.src);
  }
  sound = null;
  playing.value = null;
}

// The stored excerpt; if it was not kept, the service reads the sound again. It keeps none of a video that was not
// compared.
async function excerptOf(place) {
  if (!place.startsWith(PATHS.comparisons)) {
    notify(t("play.reading"));
    return fetchBlob(place);
  }
  return fetchBlob(place).catch((error) => {
    if (error.status !== 404) throw error;
    notify(t("play.reading"));
    return fetchBlob(address(place, { fetch: true }));
  });
}

async function play(place) {
  stop();
  const own = requestNumber;
  playing.value = place;
  try {
    const blob = await excerptOf(place);
    if (requestNumber !== own) return; // another press came while the excerpt was loaded
    sound = new Audio(URL.createObjectURL(blob));
    sound.addEventListener("ended", stop);
    await sound.play();
  } catch (error) {
    if (requestNumber !== own) return;
    stop();
    if (error.status === 404) notify(t("play.gone"));
    else if (error.envelope) notifyError(error); // the service says why
    else notify(t("play.failed"));
  }
}
addEventListener("hashchange", stop);

// `id` of a comparison, of which it plays the sound in the `role`, or of a `video`. An overlay on a cover is for the
// pointer: the row has a button for everybody, too.
export function PlayButton({ id, role = "candidate", video, isOverlay = false }) {
  const place = video ? `${PATHS.videos}/${video}/excerpt` : `${PATHS.comparisons}/${id}/excerpt/${role}`;
  const isPlaying = playing.value === place;
  return html`
    <button
      type="button"
      class=${isOverlay ? "overlay" : "button icon little plain"}
      tabindex=${isOverlay ? -1 : undefined}
      aria-hidden=${isOverlay ? "true" : undefined}
      aria-pressed=${String(isPlaying)}
      aria-label=${t(isPlaying ? "play.stop" : "play.start")}
      title=${t(isPlaying ? "play.stop" : "play.start")}
      onClick=${() => (isPlaying ? stop() : play(place))}
    >
      <${Icon} name=${isPlaying ? "pause" : "play"} />
    </button>
  `;
}
