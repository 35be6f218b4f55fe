// The page: frame, routing to views, token dialog and the status strips at the top.
import { beginRead, dagsterPage, endSignIn, loadSession, PATHS, request, signIn, signOut } from "./api.js";
import { Fragment, html, render, signal, useEffect, useRef, useState } from "./html.js";
import { loadTermLabels, t } from "./i18n.js";
import { hadSecret, link, route } from "./router.js";
import {
  chooseLang,
  chooseTheme,
  forgetView,
  isDemo,
  isExperimental,
  isOnline,
  isSignedOut,
  lang,
  lastExchange,
  needsToken,
  notices,
  savedViews,
  saveView,
  session,
  setUp,
  theme,
} from "./state.js";
import { CheckField, ErrorNote, faultOf, fixOf, Icon, Prose, TextField, useTitle } from "./parts/ui.js";
import { HotView } from "./views/hot.js";
import "./messages/page.js";

const isMenuOpen = signal(false);
const isTokenOpen = signal(false);

// Every view but the first is loaded when it is opened.
const VIEWS = {
  hot: async () => HotView,
  job: async () => (await import("./views/job.js")).JobView,
  jobs: async () => (await import("./views/job.js")).BatchView,
  evidence: async () => (await import("./views/evidence.js")).EvidenceView,
  compare: async () => (await import("./views/compare.js")).CompareView,
  search: async () => (await import("./views/search.js")).SearchView,
  profile: async () => (await import("./views/accounts.js")).ProfileView,
  posts: async () => (await import("./views/accounts.js")).PostsView,
  metrics: async () => (await import("./views/accounts.js")).MetricsView,
  hashtag: async () => (await import("./views/hashtag.js")).HashtagView,
  watchlists: async () => (await import("./views/watchlists.js")).WatchlistsView,
  catalogs: async () => (await import("./views/catalogs/catalogs.js")).CatalogsView,
  chart: async () => (await import("./views/chart.js")).ChartView,
  time: async () => (await import("./views/time.js")).TimeView,
  track: async () => (await import("./views/track.js")).TrackView,
  sql: async () => (await import("./views/sql.js")).SqlView,
  reference: async () => (await import("./views/reference.js")).ReferenceView,
  operator: async () => (await import("./views/operator.js")).OperatorView,
};
// Imports of views and their imports, loaded together instead of one level after the other.
const NESTED_IMPORTS = {
  job: () => [
    import("./parts/export.js"),
    import("./parts/notes.js"),
    import("./parts/media/picture.js"),
    import("./parts/media/play_button.js"),
    import("./parts/reads.js"),
    import("./parts/table.js"),
    import("./parts/video.js"),
    import("./views/result/result.js"),
    import("./messages/accounts.js"),
    import("./messages/figures.js"),
    import("./messages/result.js"),
  ],
  evidence: () => [
    import("./parts/notes.js"),
    import("./parts/media/picture.js"),
    import("./parts/media/player.js"),
    import("./parts/video.js"),
    import("./messages/evidence.js"),
    import("./messages/result.js"),
  ],
};
async function loadView(name) {
  NESTED_IMPORTS[name]?.().forEach((module) => module.catch(() => {})); // the view's own import says what failed
  loaded.set(name, await VIEWS[name]());
}
// Props of views whose address has more than a query.
const PROPS = {
  job: (path, query) => ({ jobId: path[1] ?? "", query }),
  jobs: (path, query) => ({ ids: (path[1] ?? "").split(",").filter((id) => id && id !== "none"), query }),
  evidence: (path) => ({ id: path[1] ?? "" }),
  hashtag: (path, query) => ({ id: path[1] ?? "", query }),
  time: (path) => ({ kind: path[1], id: path[2] }),
  track: (path) => ({ id: path[1] ?? "" }),
  sql: (path, query) => ({ name: path[1] ?? "", query }),
};
// The menu by group: each entry with its icon and the views that it opens. The first view is that of the entry itself.
const MENU = {
  main: {
    tracks: { icon: "note", views: ["hot", "search", "compare"] },
    watchlists: { icon: "clock", views: ["watchlists"] },
    catalogs: { icon: "list", views: ["catalogs"] },
    chart: { icon: "chart", views: ["chart"] },
    creators: { icon: "person", views: ["profile", "posts", "metrics"] },
  },
  admin: {
    sql: { icon: "table", views: ["sql"] },
    reference: { icon: "book", views: ["reference"] },
    operator: { icon: "tool", views: ["operator"] },
  },
};
// Views that are reached from others, and the view of the menu that they belong to.
const HOMES = { job: "hot", jobs: "hot", evidence: "hot", hashtag: "hot", time: "hot", track: "hot" };
const loaded = new Map([["hot", HotView]]);

function View() {
  const { path, query } = route.value;
  const name = VIEWS[path[0]] ? path[0] : "missing";
  const [, redraw] = useState(0);
  const [error, setError] = useState(null);
  useEffect(() => {
    setError(null);
    if (name !== "missing" && !loaded.has(name)) loadView(name).then(() => redraw((n) => n + 1), setError);
  }, [name]);
  if (error) return html`<${ErrorNote} error=${error} onRetry=${() => location.reload()} />`;
  if (name === "missing") return html`<${Missing} />`;
  const Component = loaded.get(name);
  const props = PROPS[name]?.(path, query) ?? { query };
  const key = name === "job" || name === "evidence" ? `${name}/${path[1]}` : name;
  return Component
    ? html`<${Component} key=${key} ...${props} />`
    : html`<p class="soft" role="status">${t("state.loading")}</p>`;
}

function Missing() {
  useTitle(t("missing.title"));
  return html`
    <div class="empty">
      <h1>${t("missing.title")}</h1>
      <p>${t("missing.hint")}</p>
      <a class="button" href=${link(["hot"])}>${t("nav.hot")}</a>
    </div>
  `;
}

function Mark() {
  return html`
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <g stroke="var(--accent-ink)" stroke-width="2.600" stroke-linecap="round">
        <path d="M7 13v6M11.500 9v14M16 12v8M20.500 9v14M25 13v6" />
      </g>
    </svg>
  `;
}

function Side() {
  const here = route.value.path[0];
  const active = HOMES[here] ?? here;
  return html`
    <aside class="side" id="side" data-open=${String(isMenuOpen.value)}>
      <a class="brand" href=${link(["hot"])}><${Mark} />Sametrack</a>
      <nav
        aria-label=${t("nav.label")}
        onClick=${(event) => {
          if (event.target.closest("a")) isMenuOpen.value = false;
        }}
      >
        ${Object.entries(MENU).map(([group, entries]) => html`
          <div key=${group}>
            ${group !== "main" && html`<h2>${t(`nav.group_${group}`)}</h2>`}
            <ul>
              ${Object.entries(entries).map(([name, entry]) => html`
                <${MenuEntry} key=${name} name=${name} ...${entry} active=${active} />
              `)}
              ${group === "admin" && dagsterPage() && html`
                <li>
                  <a href=${dagsterPage()} target="_blank" rel="noopener">
                    <${Icon} name="gauge" />
                    ${t("nav.dagster")}
                  </a>
                </li>
              `}
            </ul>
          </div>
        `)}
      </nav>
      <footer>
        <a href="/docs">${t("nav.docs")}</a>
        <span class="soft tiny">${t("nav.promise")}</span>
      </footer>
    </aside>
  `;
}

// A link to the first view of an entry, and below it one to each further view.
function MenuEntry({ name, icon, views, active }) {
  const [first, ...more] = views;
  return html`
    <li>
      <a
        href=${link([first])}
        aria-current=${active === first ? "page" : undefined}
        data-open=${String(views.includes(active))}
      >
        <${Icon} name=${icon} />
        ${t(`nav.${name}`)}
      </a>
      ${more.length > 0 && html`
        <ul class="sub">
          ${more.map((view) => html`
            <li key=${view}>
              <a href=${link([view])} aria-current=${active === view ? "page" : undefined}>${t(`nav.${view}`)}</a>
            </li>
          `)}
        </ul>
      `}
    </li>
  `;
}

function Bar() {
  return html`
    <header class="bar">
      <button
        type="button"
        class="button icon menu"
        aria-label=${t("nav.menu")}
        aria-expanded=${String(isMenuOpen.value)}
        aria-controls="side"
        onClick=${() => {
          isMenuOpen.value = !isMenuOpen.value;
        }}
      >
        <${Icon} name="menu" />
      </button>
      <a class="brand" href=${link(["hot"])} aria-label="Sametrack">
        <${Mark} />
        <span class="wide-only">Sametrack</span>
      </a>
      <span class="grow">
        <button type="button" class="button little find" onClick=${openPalette}>
          <${Icon} name="search" />
          <span class="find-text">${t("bar.find")}</span>
          <kbd class="wide-only" aria-hidden="true">Ctrl K</kbd>
        </button>
      </span>
      <${SaveView} />
      ${session.value.required && html`
        <button
          type="button"
          class="button little"
          aria-label=${t("bar.token")}
          onClick=${() => {
            isTokenOpen.value = true;
          }}
        >
          <${Icon} name="key" />
          <span class="wide-only">${t(session.value.role ? "bar.signed_in" : "bar.token", session.value)}</span>
        </button>
      `}
      <button
        type="button"
        class="button little"
        lang=${lang.value === "zh" ? "en" : "zh-CN"}
        onClick=${() => chooseLang(lang.value === "zh" ? "en" : "zh")}
      >
        ${lang.value === "zh" ? "English" : "中文"}
      </button>
      <button
        type="button"
        class="button icon"
        aria-label=${t(theme.value === "dark" ? "bar.light" : "bar.dark")}
        onClick=${() => chooseTheme(theme.value === "dark" ? "light" : "dark")}
      >
        <${Icon} name=${theme.value === "dark" ? "sun" : "moon"} />
      </button>
    </header>
  `;
}

function Strips() {
  return html`
    ${!isOnline.value && html`
      <div class="strip off" role="alert">
        <b>${t("strip.offline")}</b>${" "}
        ${t("strip.offline_hint")}${" "}
        <button type="button" class="button little" onClick=${reload}>${t("act.retry")}</button>
      </div>
    `}
    ${isExperimental.value && html`
      <div class="strip demo" role="status"><b>${t("strip.experimental")}</b> ${t("strip.experimental_hint")}</div>
    `}
    ${isDemo.value && html`
      <div class="strip demo" role="status"><b>${t("strip.demo")}</b> ${t("strip.demo_hint")}</div>
    `}
    ${hadSecret.value && html`
      <div class="strip off" role="alert">
        <b>${t("strip.secret")}</b>${" "}
        ${t("strip.secret_hint")}${" "}
        <button
          type="button"
          class="button little"
          onClick=${() => {
            hadSecret.value = false;
          }}
        >
          ${t("act.understood")}
        </button>
      </div>
    `}
    ${setUp.value && html`
      <div class="strip off" role="alert">
        <b>${faultOf(setUp.value)}.</b> <${Prose} text=${fixOf(setUp.value)} />
      </div>
    `}
  `;
}

// Keeps the address of this view under its title, or forgets it.
function SaveView() {
  const hash = link(route.value.path, route.value.query);
  const isSaved = savedViews.value.some((view) => view.hash === hash);
  const flip = () => (isSaved ? forgetView(hash) : saveView(document.title.replace(/ · Sametrack$/, ""), hash));
  return html`
    <button
      type="button"
      class="button icon"
      aria-pressed=${String(isSaved)}
      aria-label=${t(isSaved ? "bar.forget_view" : "bar.save_view")}
      title=${t(isSaved ? "bar.forget_view" : "bar.save_view")}
      onClick=${flip}
    >
      <${Icon} name=${isSaved ? "kept" : "keep"} />
    </button>
  `;
}

// The palette is loaded when it is first opened.
const loadedPalette = signal(null);
async function openPalette() {
  loadedPalette.value ??= await import("./parts/palette.js");
  loadedPalette.value.isPaletteOpen.value = true;
}
addEventListener("keydown", (event) => {
  if (loadedPalette.value || event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  openPalette();
});
function PaletteHost() {
  const entries = Object.values(MENU).flatMap((group) => Object.values(group));
  const names = [...entries.flatMap((entry) => entry.views), "time"];
  const pages = names.map((name) => ({ kind: "page", text: t(`nav.${name}`), hash: link([name]) }));
  return loadedPalette.value && html`<${loadedPalette.value.Palette} pages=${pages} />`;
}

function TokenDialog() {
  const box = useRef(null);
  const [token, setToken] = useState("");
  const [isKept, setKept] = useState(false);
  const [isWrong, setWrong] = useState(false);
  const [error, setError] = useState(null); // other than a wrong token
  const isOpen = isTokenOpen.value || needsToken.value;
  // The event of a dialog that was closed from here comes later, when a token may be needed again.
  const isClosedHere = useRef(false);
  useEffect(() => {
    if (isOpen && !box.current.open) box.current.showModal();
    if (!isOpen && box.current.open) {
      isClosedHere.current = true;
      box.current.close();
    }
  }, [isOpen]);
  const close = () => {
    isTokenOpen.value = false;
    endSignIn(false);
    setWrong(false);
    setError(null);
  };
  const onClose = () => {
    if (!isClosedHere.current) close();
    isClosedHere.current = false;
  };
  const save = async (event) => {
    event.preventDefault();
    setError(null);
    const isAwaited = needsToken.value; // then the requests that need it go on, and the view keeps what was typed
    const isSignedIn = await signIn(token.trim(), isKept).catch(setError);
    if (isSignedIn === undefined) return;
    setToken("");
    setWrong(!isSignedIn);
    if (isSignedIn) {
      close();
      if (!isAwaited) reload();
    }
  };
  const leave = () =>
    signOut().then(() => {
      close();
      reload();
    }, setError);
  const { required, role } = session.value;
  return html`
    <dialog ref=${box} onClose=${onClose} aria-labelledby="token-title">
      <form class="stack" onSubmit=${save}>
        <h2 id="token-title">${t("token.title")}</h2>
        <p class="soft" role="status">
          ${isWrong
            ? t("token.wrong")
            : required && role
              ? t("token.role", { role })
              : isSignedOut.value
                ? t("token.signed_out")
                : t("token.lead")}
        </p>
        <${ErrorNote} error=${error} />
        <${TextField} type="password" label=${t("token.label")} value=${token} onInput=${setToken} />
        <${CheckField} label=${t("token.keep")} hint=${t("token.keep_hint")} value=${isKept} onChange=${setKept} />
        <div class="row">
          <button type="submit" class="button main-act" disabled=${!token.trim()}>${t("token.use")}</button>
          ${required && role && html`
            <button type="button" class="button" onClick=${leave}>${t("token.forget")}</button>
          `}
          <button type="button" class="button plain" onClick=${close}>${t("act.close")}</button>
        </div>
      </form>
    </dialog>
  `;
}

// Sends one small request, whose response shows whether the service responds, requires a token or has demo data.
const reloads = signal(0);
async function checkService({ viewReads = false } = {}) {
  await Promise.all([loadSession(), loadTermLabels()]);
  if (viewReads) return true; // the first read of the view shows the same
  try {
    await request(PATHS.jobList, { query: { limit: 1 } });
    return true;
  } catch {
    return false; // the strips show the error
  }
}
// Remounts the view once the service responds.
async function reload() {
  if (await checkService()) reloads.value += 1;
}

function App() {
  const main = useRef(null);
  const page = route.value.path.join("/");
  const first = useRef(true);
  useEffect(() => {
    lastExchange.value = null;
    if (first.current) {
      first.current = false;
      return;
    }
    main.current.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [page]);
  return html`
    <a
      class="skip"
      href="#main"
      onClick=${(event) => {
        event.preventDefault();
        main.current.focus();
      }}
    >
      ${t("nav.skip")}
    </a>
    <div class="shell">
      <${Side} />
      ${isMenuOpen.value && html`
        <button
          type="button"
          class="veil"
          aria-label=${t("act.close")}
          onClick=${() => {
            isMenuOpen.value = false;
          }}
        ></button>
      `}
      <div class="main">
        <${Bar} />
        <${Strips} />
        <main class="content" ref=${main} tabindex="-1" id="main">
          <${Fragment} key=${reloads.value}><${View} /><//>
        </main>
      </div>
    </div>
    <${TokenDialog} />
    <${PaletteHost} />
    <div class="toasts" role="status" aria-live="polite">
      ${notices.value.map((notice) => html`<div key=${notice.id}>${notice.text}</div>`)}
    </div>
  `;
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") isMenuOpen.value = false;
});
loadTermLabels();
const [openedView, openedId] = route.value.path;
if (openedView === "job" && openedId) beginRead(`${PATHS.jobs}/${openedId}`);
if (openedView in NESTED_IMPORTS) loadView(openedView).catch(() => {}); // the view shows what failed
const root = document.getElementById("app");
root.replaceChildren(); // the static frame from index.html
render(html`<${App} />`, root);
checkService({ viewReads: openedView === "job" && Boolean(openedId) });
