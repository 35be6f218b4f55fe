// The command palette (Ctrl+K): pages, saved views, scanned tracks, recent jobs and accounts by name.
// Its items are read when it opens; a pasted link or id offers a scan, any other text a search for a song.
import { PATHS, request } from "../api.js";
import { clock, visible } from "../format.js";
import { html, signal, useEffect, useMemo, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { go, link } from "../router.js";
import { savedViews } from "../state.js";
import { readRows } from "./reads.js";
import { draft, isTrack, MUSIC_ID } from "./scan_request.js";
import { Icon } from "./ui.js";
import "../messages/page.js";
import "../messages/scan.js";

export const isPaletteOpen = signal(false);
const MOST_SHOWN = 12;
const MOST_JOBS = 100;
const MOST_ACCOUNTS = 500;

addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  isPaletteOpen.value = !isPaletteOpen.value;
});

// Tracks, jobs and accounts as {kind, text, more, hash}. Kinds that cannot be read are left out.
async function readItems(signal) {
  const [tracks, jobs, accounts] = await Promise.allSettled([
    readRows("scanned-tracks", { signal }),
    request(PATHS.jobList, { query: { limit: MOST_JOBS }, signal }).then((envelope) => envelope.data),
    readRows("top-accounts", { parameters: { top: MOST_ACCOUNTS }, signal }),
  ]);
  const people = new Map((accounts.value ?? []).map((row) => [row.sec_uid, row]));
  return [
    ...(tracks.value ?? [])
      .filter((row) => MUSIC_ID.test(row.music_id))
      .map((row) => ({
        kind: "track",
        text: row.title ?? row.music_id,
        more: row.artist,
        hash: link(["track", row.music_id]),
      })),
    ...(jobs.value?.jobs ?? []).map((job) => ({
      kind: "job",
      text: jobs.value.tracks[job.music_id]?.title ?? job.input,
      more: `${t(`status.${job.status}`)} · ${clock(job.created_at)}`,
      hash: link(["job", job.job_id]),
    })),
    ...[...people.values()].map((row) => ({
      kind: "account",
      text: row.nickname ?? row.sec_uid,
      more: null,
      hash: link(["profile"], { id: row.sec_uid }),
    })),
  ];
}

// Items with all typed words, in the given order.
function matching(items, typed) {
  const words = typed.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    const text = `${item.text} ${item.more ?? ""}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const ICONS = { page: "table", view: "book", track: "note", job: "list", account: "person", scan: "search" };

// `pages`: [{kind: "page", text, hash}] of the navigation.
export function Palette({ pages }) {
  const box = useRef(null);
  const isOpen = isPaletteOpen.value;
  useEffect(() => {
    if (isOpen && !box.current.open) box.current.showModal();
    if (!isOpen && box.current.open) box.current.close();
  }, [isOpen]);
  return html`
    <dialog
      class="palette"
      ref=${box}
      onClose=${() => {
        isPaletteOpen.value = false;
      }}
      onClick=${(event) => {
        if (event.target === box.current) isPaletteOpen.value = false;
      }}
      aria-label=${t("palette.title")}
    >
      ${isOpen && html`<${Content} pages=${pages} />`}
    </dialog>
  `;
}

function Content({ pages }) {
  const [typed, setTyped] = useState("");
  const [items, setItems] = useState(null); // until they are read
  const [at, setAt] = useState(0);
  const list = useRef(null);
  useEffect(() => {
    const stopping = new AbortController();
    readItems(stopping.signal).then(setItems, () => setItems([]));
    return () => stopping.abort();
  }, []);
  const matches = useMemo(() => {
    const views = savedViews.value.map((view) => ({
      kind: "view",
      text: view.name,
      more: t("palette.saved"),
      hash: view.hash,
    }));
    const more = typed.trim().slice(0, 60);
    const ask = more && { kind: "scan", text: t(isTrack(typed) ? "palette.scan" : "palette.search"), more };
    const matches = matching([...views, ...pages, ...(items ?? [])], typed).slice(0, MOST_SHOWN);
    if (!ask) return matches;
    return isTrack(typed) ? [ask, ...matches] : [...matches, ask];
  }, [typed, items, pages]);
  const chosen = Math.min(at, matches.length - 1);
  const open = (item) => {
    isPaletteOpen.value = false;
    if (item.kind === "scan") {
      draft.value = { ...draft.value, text: typed.trim() };
      go(["hot"]);
    } else location.hash = item.hash;
  };
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt((chosen + step + matches.length) % Math.max(1, matches.length));
    }
    if (event.key === "Enter" && matches[chosen]) {
      event.preventDefault();
      open(matches[chosen]);
    }
  };
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return html`
    <input
      type="text"
      role="combobox"
      aria-expanded="true"
      aria-controls="palette-list"
      aria-activedescendant=${matches.length ? `palette-${chosen}` : undefined}
      aria-label=${t("palette.title")}
      placeholder=${t("palette.placeholder")}
      value=${typed}
      autocomplete="off"
      spellcheck=${false}
      autofocus
      onInput=${(event) => {
        setTyped(event.currentTarget.value);
        setAt(0);
      }}
      onKeyDown=${press}
    />
    <div role="listbox" id="palette-list" ref=${list} aria-label=${t("palette.found")}>
      ${matches.map((item, place) => html`
        <div
          key=${`${item.kind} ${item.hash} ${item.text}`}
          role="option"
          id=${`palette-${place}`}
          aria-selected=${String(place === chosen)}
          onPointerMove=${() => setAt(place)}
          onClick=${() => open(item)}
        >
          <${Icon} name=${ICONS[item.kind]} />
          <bdi class="one-line">${visible(item.text)}</bdi>
          <bdi class="small soft one-line">${visible(item.more ?? t(`palette.${item.kind}`))}</bdi>
        </div>
      `)}
    </div>
    ${!matches.length && html`<p class="soft small" role="status">${t(items ? "filter.none" : "act.reading")}</p>`}
  `;
}
