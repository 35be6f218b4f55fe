// Hash routing: the address holds the whole view, so that it can be bookmarked and shared.
import { computed, signal } from "./html.js";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  refuseSecrets();
  hash.value = location.hash;
});

// Parsed address: {path: ["job", id, …], query: {…}}.
export const route = computed(() => {
  const [path, search = ""] = hash.value.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decode);
  return { path: parts.length ? parts : ["hot"], query: Object.fromEntries(new URLSearchParams(search)) };
});

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// The values of a query that are set, as in `a=1&b=2`.
export function searchOf(query) {
  return new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  ).toString();
}

export function link(parts, query = {}) {
  const search = searchOf(query);
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}
export function go(parts, query) {
  location.hash = link(parts, query);
}
// Replaces the address without a new history entry.
export function replaceAddress(parts, query) {
  history.replaceState(null, "", link(parts, query));
  hash.value = location.hash;
}

// A choice of a view that its address holds, like a filter, so that Back undoes it; "" is the usual one
// and stays out of the address.
export function useAddress(parts, query, name) {
  return [query[name] ?? "", (next) => go(parts, { ...route.value.query, [name]: next })];
}

const SECRET = /(^|[?&#/])(token|access_token|api_key|apikey|x-api-key|authorization|bearer)=/i;
export const hadSecret = signal(false);
// Removes a token from the address: it would stay in history and logs.
function refuseSecrets() {
  if (!SECRET.test(location.search) && !SECRET.test(location.hash)) return;
  history.replaceState(null, "", location.pathname);
  hash.value = "";
  hadSecret.value = true;
}
refuseSecrets();
