// Small components shared by all views. They hold no data of the service.
import { ServiceError } from "../api.js";
import { seconds } from "../format.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { isMessage, t } from "../i18n.js";
import { limitsOf } from "../limits.js";
import { link } from "../router.js";
import { notify } from "../state.js";
import "../messages/errors.js";
import "../messages/page.js";
import "../messages/scan.js";

const DRAWN = {
  note: "M9 18V5l10-2v13M9 18a3 3 0 1 1-3-3h3M19 16a3 3 0 1 1-3-3h3",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14m5 12 4 4",
  chart: "M4 19h16M6 15l4-5 4 3 5-8",
  compare: "M5 20V9h4v11zM13 20V4h4v16zM3 20h18",
  person: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8M4 20c1-4 4-6 8-6s7 2 8 6",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  gauge: "M4 17a8 8 0 1 1 16 0M12 17l4-6",
  clock: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16m0 4v4l3 2",
  book: "M5 4h10a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
  tool: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8M12 3v3m0 12v3M3 12h3m12 0h3M6 6l2 2m8 8 2 2m0-12-2 2m-8 8-2 2",
  menu: "M4 7h16M4 12h16M4 17h16",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8M12 3v2m0 14v2M3 12h2m14 0h2M6 6l1 1m10 10 1 1m0-12-1 1M7 17l-1 1",
  moon: "M19 14a7.500 7.500 0 0 1-9-9 7.500 7.500 0 1 0 9 9",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.010",
  pencil: "M5 19l1-4L16 5l3 3L9 18z",
  noted: "M5 4h14v12l-4 4H5zM8 9h8M8 13h5",
  keep: "M7 4h10v16l-5-4-5 4z",
  kept: "M7 4h10v16l-5-4-5 4zM10 9h4M12 7v4",
  heart: "M12 20C5 15 3 11.500 3 8.500A4.500 4.500 0 0 1 12 7a4.500 4.500 0 0 1 9 1.500c0 3-2 6.500-9 11.500",
  speech: "M4 5h16v11h-9l-5 4v-4H4z",
  share: "M13 5l7 6-7 6v-4c-5 0-8 1-9 6 0-6 3-10 9-10z",
  key: "M8 12a4 4 0 1 1 0 .1M12 12h9m-3 0v4m-4-4v3",
  check: "M5 12.500l4.500 4.500L19 7.500",
  dot: "M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6",
  turn: "M12 4a8 8 0 1 1-8 8",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  swap: "M4 8h14l-4-4M20 16H6l4 4",
  down: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  table: "M4 5h16v14H4zM4 10h16M10 10v9",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
};

export function Icon({ name, spin = false }) {
  return html`
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      class=${spin ? "spin" : ""}
    >
      <path d=${DRAWN[name]} />
    </svg>
  `;
}

export function Badge({ tone = "", bare = false, children, title }) {
  return html`<span class=${`badge ${tone} ${bare ? "bare" : ""}`} title=${title}>${children}</span>`;
}

const STATUS_TONES = { queued: "info", running: "accent", completed: "good", failed: "bad", cancelled: "warn" };
export function Status({ status }) {
  return html`<${Badge} tone=${STATUS_TONES[status] ?? ""}>${t(`status.${status}`)}<//>`;
}

export function useTitle(title) {
  useEffect(() => {
    document.title = `${title} · Sametrack`;
  }, [title]);
}

export function Head({ title, lead, children }) {
  useTitle(title);
  return html`
    <div class="row apart">
      <div class="head"><h1><bdi>${title}</bdi></h1>${lead && html`<div class="lead">${lead}</div>`}</div>
      ${children}
    </div>
  `;
}

export function Card({ title, aside, children, flush = false }) {
  return html`
    <section class=${`card ${flush ? "flush" : ""}`}>
      ${title && html`<header><h2>${title}</h2>${aside}</header>`}
      ${children}
    </section>
  `;
}

// A sentence of the service or of the page; text between backticks becomes code.
export function Prose({ text }) {
  return String(text ?? "")
    .split("`")
    .map((part, at) => (at % 2 ? html`<code key=${at}>${part}</code>` : part));
}

export function Empty({ title, children, icon = "note" }) {
  return html`
    <div class="empty">
      <${Icon} name=${icon} />
      <h2>${title}</h2>
      ${children && html`<p>${typeof children === "string" ? html`<${Prose} text=${children} />` : children}</p>`}
    </div>
  `;
}

// `tall`: as high as the content that replaces it, so that nothing below moves.
export function Loading({ rows = 3, text, tall = false }) {
  return html`
    <div class=${`stack ${tall ? "tall" : ""}`} role="status" aria-live="polite">
      <span class="hidden">${text ?? t("state.loading")}</span>
      ${Array.from(
        { length: rows },
        (_, at) => html`
          <div class="bone pulse" key=${at} style=${{ width: `${96 - at * 13}%`, height: "22px" }}></div>
        `,
      )}
    </div>
  `;
}

let ids = 0;
export function useId(prefix = "f") {
  return useState(() => `${prefix}${++ids}`)[0];
}

export function Field({ label, hint, fault, children }) {
  return html`
    <div class="field">
      ${label}
      ${children}
      ${hint && html`<span class="hint">${hint}</span>`}
      ${fault && html`<span class="fault" role="alert">${fault}</span>`}
    </div>
  `;
}
// A labelled text input.
export function TextField({ label, value, onInput, hint, fault, type = "text", ...more }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <input
        id=${id}
        type=${type}
        value=${value}
        onInput=${(event) => onInput(event.currentTarget.value)}
        aria-invalid=${fault ? "true" : undefined}
        aria-describedby=${hint || fault ? `${id}h` : undefined}
        autocomplete="off"
        spellcheck=${false}
        ...${more}
      />
      ${(hint || fault) && html`<span id=${`${id}h`} class=${fault ? "fault" : "hint"}>${fault || hint}</span>`}
    </div>
  `;
}
export function SelectField({ label, value, onChange, options, ...more }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <select id=${id} value=${value} onChange=${(event) => onChange(event.currentTarget.value)} ...${more}>
        ${options.map(([name, text]) => html`
          <option key=${name} value=${name} selected=${String(value) === String(name)}>${text}</option>
        `)}
      </select>
    </div>
  `;
}
export function CheckField({ label, value, onChange, hint }) {
  const id = useId();
  return html`
    <div class="check">
      <input id=${id} type="checkbox" checked=${value} onChange=${(event) => onChange(event.currentTarget.checked)} />
      <label for=${id}>${label}${hint && html`<span class="soft small">${" "}${hint}</span>`}</label>
    </div>
  `;
}

export function Tabs({ tabs, chosen, onChoose, label }) {
  const box = useRef(null);
  // The chosen tab is scrolled into sight, on a phone too.
  useEffect(() => {
    const tab = box.current.querySelector('[aria-selected="true"]');
    if (tab)
      box.current.scrollLeft =
        tab.offsetLeft - box.current.offsetLeft - (box.current.clientWidth - tab.offsetWidth) / 2;
  }, [chosen]);
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length][0];
    onChoose(next);
    box.current.querySelector(`[data-tab="${next}"]`)?.focus();
  };
  return html`
    <div class="tabs" role="tablist" aria-label=${label} ref=${box} onKeyDown=${move}>
      ${tabs.map(([name, text, number]) => html`
        <button
          role="tab"
          type="button"
          key=${name}
          data-tab=${name}
          id=${`tab-${name}`}
          aria-selected=${String(name === chosen)}
          aria-controls="panel"
          tabindex=${name === chosen ? 0 : -1}
          onClick=${() => onChoose(name)}
        >
          ${text}
          ${number !== undefined && html`<span class="num">${number}</span>`}
        </button>
      `)}
    </div>
  `;
}
export function Panel({ name, children }) {
  return html`<div role="tabpanel" id="panel" aria-labelledby=${`tab-${name}`} class="stack">${children}</div>`;
}
export function Segment({ label, options, value, onChange }) {
  return html`
    <div class="segment" role="group" aria-label=${label}>
      ${options.map(([name, text]) => html`
        <button type="button" key=${name} aria-pressed=${String(name === value)} onClick=${() => onChange(name)}>
          ${text}
        </button>
      `)}
    </div>
  `;
}

// items: [label, value, note, explanation of the label].
export function Figures({ items }) {
  return html`
    <dl class="figures">
      ${items.filter(Boolean).map(([label, value, note, term]) => html`
        <div key=${label}>
          <dt>${label}${term && html`${" "}${term}`}</dt>
          <dd>${value}${note && html`<small>${note}</small>`}</dd>
        </div>
      `)}
    </dl>
  `;
}

export function Copy({ text, label, little = true }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      notify(t("act.copied"));
    } catch {
      notify(t("act.not_copied"));
    }
  };
  return html`
    <button type="button" class=${`button ${little ? "little" : ""}`} onClick=${copy}>${label ?? t("act.copy")}</button>
  `;
}

// What an error of the service means to users: its fault and what to do, by its type. The service's own detail is for
// programs and in English.
const textOf = (area, type) => t(isMessage(`${area}.${type}`) ? `${area}.${type}` : `${area}.unknown`);
export const faultOf = (error) => textOf("fault", error?.type);
export const fixOf = (error) => textOf("fix", error?.type);

// The value that an error is about, with its limits: the detail begins with the name of the parameter.
const PARAMETER = /^(?:`([a-z_]+)|([a-z_]+) is\b)/;
const VALUE_ERRORS = new Set(["invalid_parameter", "missing_parameter"]);
function valueOf(error) {
  const [, quoted, plain] = (VALUE_ERRORS.has(error?.type) && PARAMETER.exec(error.detail)) || [];
  const name = quoted ?? (isMessage(`param.${plain}`) ? plain : null);
  if (!name) return null;
  if (isMessage(`fix.${name}`)) return t(`fix.${name}`);
  const label = isMessage(`param.${name}`) ? t(`param.${name}`) : name;
  const { minimum: low, maximum: high } = limitsOf(name) ?? {};
  return typeof low === "number" && typeof high === "number"
    ? t("fault.where_limits", { name: label, low, high })
    : t("fault.where", { name: label });
}

// Shows for a moment why an action failed.
export function notifyError(error) {
  notify(error.envelope ? faultOf(error) : t("error.unreachable"));
}

// An error with what to do next. `isOpen`: its technical details are what the user needs, such as those of a statement.
export function ErrorNote({ error, onRetry, isOpen = false }) {
  if (!error) return null;
  const refused = error instanceof ServiceError ? error : null;
  const details = refused ? refused.error : error.type ? error : null; // null: a proxy responded, not the service
  const technical = [details?.type, details?.upstream?.reason, refused?.status, refused?.envelope?.request_id];
  return html`
    <div class="note bad" role="alert">
      <h2>${details ? faultOf(details) : t("error.unreachable")}</h2>
      ${valueOf(details) && html`<p>${valueOf(details)}</p>`}
      <p><${Prose} text=${details ? fixOf(details) : t("error.unreachable_hint")} /></p>
      ${details?.retry_after && html`<p>${t("fault.retry", { time: seconds(details.retry_after) })}</p>`}
      ${details?.type === "invalid_music_input" && html`
        <p><a href=${link(["search"])}>${t("fix.search_instead")}</a></p>
      `}
      ${details && html`
        <details class="fold small" open=${isOpen}>
          <summary>${t("fault.details")}</summary>
          <p lang="en"><${Prose} text=${details.detail} /></p>
          <p class="tiny soft mono">${technical.filter(Boolean).join(" · ")}</p>
        </details>
      `}
      ${onRetry && html`
        <div class="row"><button type="button" class="button little" onClick=${onRetry}>${t("act.retry")}</button></div>
      `}
    </div>
  `;
}

// A popover: opens on click, closes on Escape and on a click outside. `isOn`: what it holds is in effect.
export function Pop({ label, children, isOn = false }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef(null);
  // A layout effect, so that it handles keys from the first frame on.
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const close = (event) => {
      if (event.key === "Escape" && box.current?.contains(document.activeElement))
        box.current.querySelector("button").focus(); // the focused element disappears
      if (event.key === "Escape" || (event.type === "pointerdown" && !box.current?.contains(event.target)))
        setOpen(false);
    };
    document.addEventListener("keydown", close);
    document.addEventListener("pointerdown", close);
    return () => {
      document.removeEventListener("keydown", close);
      document.removeEventListener("pointerdown", close);
    };
  }, [isOpen]);
  return html`
    <div class="pop" ref=${box}>
      <button
        type="button"
        class=${`button little ${isOn ? "on" : ""}`}
        aria-expanded=${String(isOpen)}
        onClick=${() => setOpen(!isOpen)}
      >
        ${label}
      </button>
      ${isOpen && html`<div class="sheet">${children}</div>`}
    </div>
  `;
}
