// Translations. Labels of machine terms (stop reasons, surfaces, …) come from the service, so that
// report, terminal and console use the same ones.
import { signal } from "./html.js";
import { lang } from "./state.js";

const messages = {}; // of the files that were imported: a module imports those of the messages it shows
const LANGS = ["en", "zh"]; // order of the texts in a message
export const termLabels = signal({}); // labels by table and term; `limits` has those of the scan parameters

const PLACE = /\{(\w+)(?:\|([^|}]+)\|([^|}]+))?\}/g; // {rows}, or {rows|row|rows}: the number with its noun

export function addMessages(more) {
  Object.assign(messages, more);
}

export const isMessage = (key) => key in messages;

export function t(key, values = {}) {
  const text = messages[key]?.[LANGS.indexOf(lang.value)] ?? key;
  return text.replace(PLACE, (_, name, singular, many) => {
    const value = String(values[name] ?? "");
    return singular ? `${value} ${value === "1" ? singular : many}` : value;
  });
}

// Label of a machine term from a table (stop, surface, link, …); the term itself if unknown.
export function labelOf(table, term) {
  if (term === null || term === undefined || term === "") return "—";
  const label = termLabels.value[table]?.[term];
  return label ? label[lang.value] : String(term).replaceAll("_", " ");
}

// The terms of a table in the order of the service; empty before they are loaded.
export const termNames = (table) => Object.keys(termLabels.value[table] ?? {});

// [term, label] of every term of a table in the order of the service. Before the labels are loaded,
// `chosen` is the only one.
export function termsOf(table, chosen) {
  return Object.entries(termLabels.value[table] ?? { [chosen]: { [lang.value]: chosen } }).map(([term, label]) => [
    term,
    label[lang.value],
  ]);
}

// Picks the English or Chinese field of a response by the chosen language.
export function either(enText, zhText) {
  return (lang.value === "zh" ? zhText : enText) ?? enText ?? zhText ?? "";
}

// A name with its value, and a list of sentences, with the punctuation of the chosen language.
export const named = (name, value) => (lang.value === "zh" ? `${name}：${value}` : `${name}: ${value}`);
export const listed = (parts) => parts.join(lang.value === "zh" ? "；" : "; ");

let pending = null;
// Read once; if that fails, the next call tries again.
export function loadTermLabels() {
  pending ??= fetch("/console/words.json", { credentials: "omit" })
    .then(async (response) => {
      if (!response.ok) throw new Error(String(response.status));
      termLabels.value = await response.json();
    })
    .catch(() => {
      pending = null;
    });
  return pending;
}
