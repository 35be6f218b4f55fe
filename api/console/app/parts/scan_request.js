// Requests for scans: the values of the form, and the view of the result that a request chooses.
import { partsOf } from "../format.js";
import { html, signal } from "../html.js";
import { either, t } from "../i18n.js";
import { limitsOf } from "../limits.js";
import { go } from "../router.js";
import { Field, useId } from "./ui.js";
import "../messages/scan.js";

export const draft = signal({ text: "", values: {} }); // survives switching to another view

// Converts form values to a request body: numbers as numbers, untouched fields left out.
export function bodyOf(values) {
  const body = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === "" || value === undefined) continue;
    if (name === "search_keywords") body[name] = partsOf(value, /[,，]/);
    else if (typeof value === "boolean" || name === "sort_by") body[name] = value;
    else body[name] = Number(value);
  }
  return body;
}

export function NumberField({ name, value, onInput }) {
  const limits = limitsOf(name);
  const id = useId();
  // without limits the hint keeps its line, so that nothing moves
  const range = limits ? [limits.minimum, limits.maximum].map((limit) => limit ?? "…").join(" – ") : "\u00a0";
  const meaning = limits ? either(limits.meaning, limits.meaning_zh) : undefined;
  return html`
    <${Field} label=${html`<label for=${id} title=${meaning}>${t(`param.${name}`)}</label>`} hint=${range}>
      <input
        id=${id}
        type="number"
        inputmode="decimal"
        step=${name === "match_threshold" ? "0.01" : "1"}
        min=${limits?.minimum}
        max=${limits?.maximum ?? undefined}
        value=${value ?? ""}
        placeholder=${limits ? (limits.default ?? t("hot.linked_default")) : ""}
        onInput=${(event) => onInput(name, event.currentTarget.value)}
      />
    <//>
  `;
}

export const MUSIC_ID = /^\d{5,30}$/;
const LINK = /https?:|(^|[\s,;，；：:])[a-z0-9-]+(\.[a-z0-9-]+)+\/\S/i; // also without its scheme

// Whether a text is that of a track, not a title: a music id, or a text with a link.
export const isTrack = (text) => MUSIC_ID.test(text.trim()) || LINK.test(text);

// Parts of an address and the parameters they hold.
export const PARTS = { sort: "sort_by", rows: "count", viral: "viral_only", threshold: "viral_threshold" };

const written = (value) => (typeof value === "boolean" ? Number(value) : value);

// The parts of an address for the view of a request, as far as it differs from `own`, that of the job.
export function viewParts(parameters, own = {}) {
  return Object.fromEntries(
    Object.entries(PARTS).map(([part, name]) => [
      part,
      parameters[name] === own[name] ? "" : written(parameters[name]),
    ]),
  );
}

// Opens the job that answers a request: an earlier one, if its stored result does.
export function openJob({ params, data }) {
  go(["job", data.job_id], viewParts(params, data.parameters));
}
