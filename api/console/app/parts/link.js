// Read-only links to a result or a track: creates, copies, lists and revokes them.
import { PATHS, request, unlessAborted } from "../api.js";
import { Foreign, moment } from "../format.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { notify } from "../state.js";
import { useParameter } from "./reads.js";
import { Copy, ErrorNote, Loading, TextField } from "./ui.js";
import "../messages/scan.js";
import "../messages/page.js";

const addressOf = (entry) => new URL(entry.path, location.origin).href;

// `kind`: "result" or "track"; `id`: that of the job, or the music id.
export function LinkButton({ kind, id }) {
  const [isOpen, setOpen] = useState(false);
  return html`
    <button type="button" class="button little" aria-haspopup="dialog" onClick=${() => setOpen(true)}>
      ${t("link.title")}
    </button>
    ${isOpen && html`<${Links} kind=${kind} id=${id} onClose=${() => setOpen(false)} />`}
  `;
}

function Links({ kind, id, onClose }) {
  const box = useRef(null);
  const [state, setState] = useState({});
  const [days, setDays] = useState(""); // empty: the default of the service
  const limits = useParameter(PATHS.shared, "days", "POST");
  const change = (fields) => setState((current) => ({ ...current, ...fields }));
  const read = (signal) =>
    request(PATHS.shared, { query: { kind, id }, signal }).then(
      (envelope) => change({ links: envelope.data.links }),
      unlessAborted((error) => change({ error })),
    );
  useEffect(() => {
    const stopping = new AbortController();
    box.current.showModal();
    read(stopping.signal);
    return () => stopping.abort();
  }, [kind, id]);
  const act = async (action) => {
    change({ busy: true, error: null });
    try {
      await action();
      await read();
    } catch (error) {
      change({ error });
    } finally {
      change({ busy: false });
    }
  };
  const create = async () => {
    const body = { kind, id, ...(days !== "" && { days: Number(days) }) };
    const { data: entry } = await request(PATHS.shared, { method: "POST", body });
    const isCopied = await navigator.clipboard?.writeText(addressOf(entry)).then(
      () => true,
      () => false,
    );
    notify(t(isCopied ? "link.created" : "link.created_only"));
  };
  const revoke = async (entry) => {
    await request(`${PATHS.shared}/${entry.link_id}`, { method: "DELETE" });
    notify(t("link.revoked"));
  };
  const submit = (event) => {
    event.preventDefault();
    act(create);
  };
  const { links, busy, error } = state;
  return html`
    <dialog ref=${box} onClose=${onClose} aria-label=${t("link.title")}>
      <div class="stack">
        <h2>${t("link.title")}</h2>
        <p class="small soft">${t(`link.lead_${kind}`)}</p>
        <form class="stack tight" onSubmit=${submit}>
          <${TextField}
            type="number"
            label=${t("link.days")}
            value=${days}
            onInput=${setDays}
            placeholder=${limits?.default}
            min=${limits?.minimum}
            max=${limits?.maximum}
            hint=${limits && t("link.days_hint", { low: limits.minimum, high: limits.maximum })}
          />
          <div class="row">
            <button type="submit" class="button main-act" disabled=${busy}>${t("link.create")}</button>
            <button type="button" class="button plain" onClick=${() => box.current.close()}>${t("act.close")}</button>
          </div>
        </form>
        <${ErrorNote} error=${error} />
        ${!links && !error && html`<${Loading} rows=${1} />`}
        ${links?.length > 0 && html`
          <h3>${t("link.existing")}</h3>
          <ul class="list">
            ${links.map((entry) => html`
              <${LinkRow} key=${entry.link_id} entry=${entry} busy=${busy} onRevoke=${() => act(() => revoke(entry))} />
            `)}
          </ul>
        `}
      </div>
    </dialog>
  `;
}

function LinkRow({ entry, busy, onRevoke }) {
  const made = { time: moment(entry.created_at), name: entry.created_by };
  return html`
    <li class="row apart">
      <span class="small">
        <b>${t("link.until", { time: moment(entry.expires_at) })}</b>
        <span class="soft">
          ${" · "}
          ${entry.last_used_at ? t("link.used", { time: moment(entry.last_used_at) }) : t("link.unused")}
          <br />
          <${Foreign} text=${t(entry.created_by ? "link.made_by" : "link.made_on", made)} />
        </span>
      </span>
      <span class="row">
        <${Copy} text=${addressOf(entry)} label=${t("link.copy")} />
        <a class="button little" href=${entry.path} target="_blank" rel="noreferrer">${t("link.open")}</a>
        <button type="button" class="button little danger" disabled=${busy} onClick=${onRevoke}>
          ${t("link.revoke")}
        </button>
      </span>
    </li>
  `;
}
