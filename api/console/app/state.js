// What the whole page knows: language, theme, token, connection, world. Kept only where asked.
import { computed, effect, signal } from "./html.js";

const KEYS = { lang: "sametrack.lang", theme: "sametrack.theme", token: "sametrack.token" };

function kept(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}
function keep(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch { /* a browser may forbid storage: then nothing is remembered */ }
}

const wished = kept(KEYS.lang);
const spoken = (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
export const lang = signal(wished === "zh" || wished === "en" ? wished : spoken);

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemTheme = signal(prefersDark.matches ? "dark" : "light");
prefersDark.addEventListener("change", (event) => { systemTheme.value = event.matches ? "dark" : "light"; });
export const themeWish = signal(kept(KEYS.theme)); // null: as the system says
export const theme = computed(() => themeWish.value ?? systemTheme.value);

export const token = signal(kept(KEYS.token) ?? "");
export const needsToken = signal(false);
export const isOnline = signal(navigator.onLine);
export const isDemo = signal(false);
export const isExperimental = signal(false);
export const setUp = signal(null); // the error of a service that no profile is chosen for
export const notices = signal([]);
export const lastExchange = signal(null); // request and response that the raw preview shows

addEventListener("online", () => { isOnline.value = true; });
addEventListener("offline", () => { isOnline.value = false; });

effect(() => {
  document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
  document.documentElement.dataset.theme = theme.value;
});

export function chooseLang(value) {
  lang.value = value;
  keep(KEYS.lang, value);
}
export function chooseTheme(value) {
  themeWish.value = value;
  keep(KEYS.theme, value);
}
export function chooseToken(value, remember) {
  token.value = value;
  needsToken.value = false;
  keep(KEYS.token, remember && value ? value : null);
}
export function isTokenKept() {
  return kept(KEYS.token) !== null;
}

let counter = 0;
// Told by a live region; goes by itself.
export function tell(text) {
  const id = ++counter;
  notices.value = [...notices.value, { id, text }];
  setTimeout(() => { notices.value = notices.value.filter((one) => one.id !== id); }, 4000);
}
