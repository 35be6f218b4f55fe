// Global state: language, theme, session, connection. The token itself is kept nowhere: a cookie that
// scripts cannot read stands for it.
import { computed, effect, signal } from "./html.js";

const KEYS = {
  lang: "sametrack.lang",
  theme: "sametrack.theme",
  views: "sametrack.views",
  tables: "sametrack.tables",
};
const OLD_TOKEN = "sametrack.token"; // earlier releases stored the token here

function readStored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
function writeStored(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    /* the browser may forbid storage: nothing is remembered */
  }
}

const storedLang = readStored(KEYS.lang);
const browserLang = (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
export const lang = signal(storedLang === "zh" || storedLang === "en" ? storedLang : browserLang);

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemTheme = signal(prefersDark.matches ? "dark" : "light");
prefersDark.addEventListener("change", (event) => {
  systemTheme.value = event.matches ? "dark" : "light";
});
const chosenTheme = signal(readStored(KEYS.theme)); // null: follow the system
export const theme = computed(() => chosenTheme.value ?? systemTheme.value);

const printed = matchMedia("print");
const isPrinted = signal(printed.matches); // paper is light, whatever the screen is
printed.addEventListener("change", (event) => {
  isPrinted.value = event.matches;
});

writeStored(OLD_TOKEN, null);
// the answer of /session
export const session = signal({ required: false, role: null, dagster_url: null, shows_pictures: false });
export const needsToken = signal(false);
export const isSignedOut = signal(false); // this page had a session, which has ended
export const isOnline = signal(navigator.onLine);
export const isDemo = signal("demo" in document.documentElement.dataset); // the service marks its page
export const isExperimental = signal(false);
export const setUp = signal(null); // error of a service without a platform profile
export const notices = signal([]);
export const lastExchange = signal(null); // request and response shown in the raw preview

addEventListener("online", () => {
  isOnline.value = true;
});
addEventListener("offline", () => {
  isOnline.value = false;
});

effect(() => {
  document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
  document.documentElement.dataset.theme = isPrinted.value ? "light" : theme.value;
});

export function chooseLang(value) {
  lang.value = value;
  writeStored(KEYS.lang, value);
}
export function chooseTheme(value) {
  chosenTheme.value = value;
  writeStored(KEYS.theme, value);
}

// Saved views of this browser: [{name, hash}], the newest first. An address holds the whole view.
const MOST_VIEWS = 50;
export const savedViews = signal(readViews());
function readViews() {
  try {
    return JSON.parse(readStored(KEYS.views) ?? "[]").filter(
      (view) => typeof view.name === "string" && String(view.hash).startsWith("#/"),
    );
  } catch {
    return [];
  }
}
export function saveView(name, hash) {
  savedViews.value = [{ name, hash }, ...savedViews.value.filter((view) => view.hash !== hash)].slice(0, MOST_VIEWS);
  writeStored(KEYS.views, JSON.stringify(savedViews.value));
}
export function forgetView(hash) {
  savedViews.value = savedViews.value.filter((view) => view.hash !== hash);
  writeStored(KEYS.views, JSON.stringify(savedViews.value));
}

// What this browser keeps of tables by their name: {columns: the keys of the further columns, widths: {key: pixels}}.
export const tableChoices = signal(readTables());
function readTables() {
  try {
    return Object(JSON.parse(readStored(KEYS.tables) ?? "{}"));
  } catch {
    return {};
  }
}
export function changeTable(name, change) {
  tableChoices.value = { ...tableChoices.value, [name]: { ...tableChoices.value[name], ...change } };
  writeStored(KEYS.tables, JSON.stringify(tableChoices.value));
}

let counter = 0;
// Shows a message in the live region for four seconds.
export function notify(text) {
  const id = ++counter;
  notices.value = [...notices.value, { id, text }];
  setTimeout(() => {
    notices.value = notices.value.filter((notice) => notice.id !== id);
  }, 4000);
}
