// A cover or an avatar: a small copy that the service keeps, or a plain tile.
import { PATHS } from "../../api.js";
import { visible } from "../../format.js";
import { html, signal, useRef, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { session } from "../../state.js";
import { Icon } from "../ui.js";
import "../../messages/page.js";

const missing = new Set(); // pictures that the service did not have: requested once per view
const ICONS = { video: "image", track: "note", account: "person" };
const NAME_LETTERS = 60;
const REST_MS = 150;
const areHeld = signal(false);
let resting = 0;

// Some were only late, or their host was paused: the next view requests them again. Captured, so that it happens
// before that view is drawn.
addEventListener("hashchange", () => missing.clear(), { capture: true });

// While rows scroll fast, pictures wait until the scrolling rests, so that a long list scrolls smoothly and the service
// does not read pictures that nobody sees.
export function holdPictures() {
  areHeld.value = true;
  clearTimeout(resting);
  resting = setTimeout(() => {
    areHeld.value = false;
  }, REST_MS);
}

// `kind`: video, track or account; `name`: what it is called, for the alternative text.
export function Picture({ kind, id, name, size = "" }) {
  const key = `${kind} ${id}`;
  const [isMissing, setMissing] = useState(missing.has(key));
  const isAsked = useRef(false);
  if (!isAsked.current && !areHeld.value) isAsked.current = true;
  if (!session.value.shows_pictures || !id || isMissing)
    return html`
      <span class=${`picture-tile ${kind} ${size}`} aria-hidden="true"><${Icon} name=${ICONS[kind]} /></span>
    `;
  if (!isAsked.current) return html`<span class=${`picture-tile ${kind} ${size}`} aria-hidden="true"></span>`;
  const text = t(`picture.${kind}`, { name: visible(name ?? id).slice(0, NAME_LETTERS) });
  return html`
    <img
      class=${`picture-tile ${kind} ${size}`}
      src=${`${PATHS.pictures}/${kind}/${encodeURIComponent(id)}`}
      alt=${text}
      loading="lazy"
      decoding="async"
      onError=${() => {
        missing.add(key);
        setMissing(true);
      }}
    />
  `;
}
