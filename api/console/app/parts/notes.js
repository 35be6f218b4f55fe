// Notes and tags on tracks, videos and pairs. They belong to the service, so that everybody sees them.
import { PATHS, request } from "../api.js";
import { partsOf } from "../format.js";
import { html, signal, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { notify } from "../state.js";
import { Badge, Icon, notifyError, Pop, TextField } from "./ui.js";
import "../messages/page.js";

const noteByKey = signal(new Map()); // `${kind} ${id}` to its note
let pending = null;
const MOST_NOTES = 5000;

const keep = (notes, kind) => {
  const others = [...noteByKey.value].filter(([, note]) => kind && note.kind !== kind);
  noteByKey.value = new Map([...others, ...notes.map((note) => [`${note.kind} ${note.id}`, note])]);
};
// Reads all notes once per page; without them no note is displayed.
function load() {
  pending ??= request(PATHS.notes, { query: { limit: MOST_NOTES } }).then(
    (envelope) => keep(envelope.data.notes),
    () => {
      pending = null;
    },
  );
}
async function write(kind, id, note, tags) {
  const envelope = await request(PATHS.notes, { method: "POST", body: { kind, id, note: note.trim() || null, tags } });
  keep(envelope.data.notes, kind);
}

// Tags and text of a note, and a button to change them. `isShort`: the button alone, with the tags.
export function NotePad({ kind, id, isShort = false }) {
  useEffect(load, []);
  const [isOpen, setOpen] = useState(false);
  const note = noteByKey.value.get(`${kind} ${id}`);
  const name = t(note ? "note.change" : "note.add");
  return html`
    <span class="note-pad">
      ${note?.tags.map((tag) => html`<${Badge} key=${tag} tone="accent" bare><bdi>${tag}</bdi><//>`)}
      ${!isShort && note?.note && html`<bdi class="small">${note.note}</bdi>`}
      <button
        type="button"
        class="button icon little plain no-print"
        aria-label=${name}
        title=${note?.note ?? name}
        onClick=${() => setOpen(true)}
      >
        <${Icon} name=${note ? "noted" : "pencil"} />
      </button>
      ${isOpen && html`<${Editor} kind=${kind} id=${id} note=${note} onClose=${() => setOpen(false)} />`}
    </span>
  `;
}

function Editor({ kind, id, note, onClose }) {
  const box = useRef(null);
  const [text, setText] = useState(note?.note ?? "");
  const [tags, setTags] = useState((note?.tags ?? []).join(", "));
  useEffect(() => {
    box.current.showModal();
  }, []);
  const close = () => box.current.close(); // gives the focus back
  const save = (event) => {
    event.preventDefault();
    write(kind, id, text, [...new Set(partsOf(tags, /[,，]/))]).then(close, notifyError);
  };
  return html`
    <dialog ref=${box} onClose=${onClose} aria-label=${t("note.title")}>
      <form class="stack" onSubmit=${save}>
        <h2>${t("note.title")}</h2>
        <${TextField} label=${t("note.text")} value=${text} onInput=${setText} maxlength="500" />
        <${TextField}
          label=${t("note.tags")}
          hint=${t("note.tags_hint")}
          value=${tags}
          onInput=${setTags}
          maxlength="400"
        />
        <p class="small soft">${t("note.shared")}</p>
        <div class="row">
          <button type="submit" class="button main-act">${t("note.save")}</button>
          <button type="button" class="button plain" onClick=${close}>${t("act.close")}</button>
        </div>
      </form>
    </dialog>
  `;
}

// Adds tags to several tracks, videos or pairs, whose notes stay as they are.
export function TagButton({ kind, ids }) {
  useEffect(load, []);
  const [tags, setTags] = useState("");
  const save = async (event) => {
    event.preventDefault();
    const added = partsOf(tags, /[,，]/);
    try {
      for (const id of ids) {
        const note = noteByKey.value.get(`${kind} ${id}`);
        await write(kind, id, note?.note ?? "", [...new Set([...(note?.tags ?? []), ...added])]);
      }
      setTags("");
      notify(t("note.tagged"));
    } catch (error) {
      notifyError(error);
    }
  };
  return html`
    <${Pop} label=${`${t("note.tag")} ▾`}>
      <form class="stack tight" onSubmit=${save}>
        <${TextField}
          label=${t("note.tags")}
          hint=${t("note.tags_hint")}
          value=${tags}
          onInput=${setTags}
          maxlength="400"
          required
        />
        <button type="submit" class="button little">${t("note.save")}</button>
      </form>
    <//>
  `;
}
