// Both languages. Words of machine terms come from the service, so that report, terminal and
// console say the same.
import { signal } from "./html.js";
import { lang } from "./state.js";
import words from "./words/all.js";

const LANGS = ["en", "zh"]; // in the order of the texts of a word
const machineWords = signal({});

export function t(key, values = {}) {
  const text = words[key]?.[LANGS.indexOf(lang.value)] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

// Plain words of a machine word of a table (stop, surface, link, …); the word itself if unknown.
export function say(table, word) {
  if (word === null || word === undefined || word === "") return "—";
  const found = machineWords.value[table]?.[word];
  return found ? found[lang.value] : String(word).replaceAll("_", " ");
}

// English and Chinese fields of an answer: the one of the chosen language.
export function either(enText, zhText) {
  return (lang.value === "zh" ? zhText : enText) ?? enText ?? zhText ?? "";
}

export async function loadWords() {
  const answer = await fetch("/console/words.json", { credentials: "omit" });
  if (answer.ok) machineWords.value = await answer.json();
}
