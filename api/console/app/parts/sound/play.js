// Plays the kept excerpt of a compared video in its row; one at a time.
import { PATHS, fetchBlob } from "../../api.js";
import { html, signal } from "../../html.js";
import { t } from "../../i18n.js";
import { notify } from "../../state.js";
import { Icon } from "../ui.js";
import "../../messages/page.js";

const playing = signal(null); // the comparison that is heard
let sound = null;

function stop() {
  if (sound) { sound.pause(); URL.revokeObjectURL(sound.src); }
  sound = null;
  playing.value = null;
}

async function play(id) {
  stop();
  playing.value = id;
  try {
    const blob = await fetchBlob(`${PATHS.comparisons}/${id}/excerpt/candidate`);
    if (playing.value !== id) return; // another row was chosen while this one was loaded
    sound = new Audio(URL.createObjectURL(blob));
    sound.addEventListener("ended", stop);
    await sound.play();
  } catch (error) {
    if (playing.value === id) stop();
    notify(error.status === 404 ? t("play.none") : t("play.failed"));
  }
}
addEventListener("hashchange", stop);

export function PlayButton({ id }) {
  const isPlaying = playing.value === id;
  return html`<button type="button" class="button icon little plain" aria-pressed=${String(isPlaying)} aria-label=${t(isPlaying ? "play.stop" : "play.start")} title=${t(isPlaying ? "play.stop" : "play.start")} onClick=${() => (isPlaying ? stop() : play(id))}><${Icon} name=${isPlaying ? "pause" : "play"} /></button>`;
}
