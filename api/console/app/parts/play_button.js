// Plays the kept excerpt of a compared video in its row; one at a time.
import { address, fetchBlob, PATHS } from "../api.js";
import { html, signal } from "../html.js";
import { t } from "../i18n.js";
import { notify } from "../state.js";
import { Icon, notifyError } from "./ui.js";
import "../messages/page.js";

const playing = signal(null); // id of the comparison whose excerpt plays
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

// The stored excerpt; if it was not kept, the service reads the sound again.
async function excerptOf(id) {
  const place = `${PATHS.comparisons}/${id}/excerpt/candidate`;
  return fetchBlob(place).catch((error) => {
    if (error.status !== 404) throw error;
    notify(t("play.reading"));
    return fetchBlob(address(place, { fetch: true }));
  });
}

async function play(id) {
  stop();
  const own = requestNumber;
  playing.value = id;
  try {
    const blob = await excerptOf(id);
    if (requestNumber !== own) return; // another press came while the excerpt was loaded
    sound = new Audio(URL.createObjectURL(blob));
    sound.addEventListener("ended", stop);
    await sound.play();
  } catch (error) {
    if (requestNumber !== own) return;
    stop();
    if (error.status === 404) notifyError(error);
    else notify(t("play.failed"));
  }
}
addEventListener("hashchange", stop);

export function PlayButton({ id }) {
  const isPlaying = playing.value === id;
  return html`
    <button
      type="button"
      class="button icon little plain"
      aria-pressed=${String(isPlaying)}
      aria-label=${t(isPlaying ? "play.stop" : "play.start")}
      title=${t(isPlaying ? "play.stop" : "play.start")}
      onClick=${() => (isPlaying ? stop() : play(id))}
    >
      <${Icon} name=${isPlaying ? "pause" : "play"} />
    </button>
  `;
}
