// Takes tracks out of a CSV or text file of the visitor: the first link or id of each line. The file
// stays in the browser.
import { html, useRef } from "../html.js";
import { t } from "../i18n.js";
import { notify } from "../state.js";
import "../messages/scan.js";

const CELL = /https?:\/\/[^\s"'<>,;，；]+|(?<!\d)\d{15,30}(?!\d)/; // a link, or an id of the platform
const ID = /^\d{5,30}$/;
const LINK = /https?:|(^|[\s,;，；：:])[a-z0-9-]+(\.[a-z0-9-]+)+\/\S/i; // also without its scheme
const MOST_BYTES = 2_000_000;

// Whether a text is that of a track, not a title: a music id, or a text with a link.
export const isTrack = (text) => ID.test(text.trim()) || LINK.test(text);

// Links and ids of a table or a text, one per line, each once.
export function tracksIn(text) {
  return [
    ...new Set(
      text
        .split(/\r?\n/)
        .map((line) => CELL.exec(line)?.[0])
        .filter(Boolean),
    ),
  ];
}

export function TrackFile({ onTracks }) {
  const input = useRef(null);
  const read = async (event) => {
    const [file] = event.currentTarget.files;
    input.current.value = ""; // the same file can be chosen again
    if (!file) return;
    if (file.size > MOST_BYTES) {
      notify(t("hot.file_large"));
      return;
    }
    const tracks = tracksIn(await file.text());
    notify(t(tracks.length ? "hot.file_read" : "hot.file_empty", { number: tracks.length }));
    if (tracks.length) onTracks(tracks);
  };
  return html`
    <div class="row">
      <input
        class="hidden"
        type="file"
        accept=".csv,.tsv,.txt,text/csv,text/plain"
        ref=${input}
        tabindex="-1"
        aria-label=${t("hot.file")}
        onChange=${read}
      />
      <button type="button" class="button little" onClick=${() => input.current.click()}>${t("hot.file")}</button>
      <span class="hint small soft">${t("hot.file_hint")}</span>
    </div>
  `;
}
