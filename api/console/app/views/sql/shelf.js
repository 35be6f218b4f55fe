// Beside the editor: the library of queries, and the tables with their columns.
import { html, useState } from "../../html.js";
import { either, t } from "../../i18n.js";
import { Loading, TextField } from "../../parts/ui.js";
import { link } from "../../router.js";
import "../../messages/sql.js";

const wide = matchMedia("(min-width: 1240px)"); // as in data.css: the shelf is beside the editor
const NEWEST_LAYER = "marts"; // conclusions come first: most questions are about them

export function Library({ queries, chosen, isFirst }) {
  const subjects = [...new Set((queries ?? []).map((one) => one.subject))];
  return html`
    <details class="card fold" open=${wide.matches || isFirst}>
      <summary>${t("sql.library")}</summary>
      ${!queries && html`<${Loading} rows=${6} />`}
      <nav aria-label=${t("sql.library")}>
        ${subjects.map((subject) => html`
          <div key=${subject}>
            <h2>${t(`sql.subject_${subject}`)}</h2>
            <ul>
              ${queries.filter((one) => one.subject === subject).map((one) => html`
                <li key=${one.name}>
                  <a
                    href=${link(["sql", one.name])}
                    title=${either(one.description, one.description_zh)}
                    aria-current=${one.name === chosen ? "true" : undefined}
                  >
                    ${either(one.title, one.title_zh)}
                  </a>
                </li>
              `)}
            </ul>
          </div>
        `)}
      </nav>
    </details>
  `;
}

export function TableList({ tables }) {
  const [wanted, setWanted] = useState("");
  const word = wanted.trim().toLowerCase();
  const shown = (tables ?? []).filter((table) => matches(table, word)).sort((a, b) => isLast(a) - isLast(b));
  return html`
    <details class="card fold" open=${wide.matches}>
      <summary>${t("sql.tables")}</summary>
      <div class="stack tight">
        <${TextField} type="search" label=${t("sql.filter")} value=${wanted} onInput=${setWanted} />
        <div class="tables">
          ${shown.map((table) => html`<${TableEntry} key=${table.name} table=${table} word=${word} />`)}
        </div>
      </div>
    </details>
  `;
}

function TableEntry({ table, word }) {
  const [isOpen, setOpen] = useState(false);
  const hits =
    word && !table.name.includes(word) ? table.columns.filter((column) => column.name.includes(word)) : table.columns;
  return html`
    <details onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>${table.name}</summary>
      ${isOpen && html`
        <p class="tiny soft">${table.row}. ${t("sql.key", { names: table.key.join(", ") })}</p>
        <ul>
          <li><${Insert} name=${table.name} /></li>
          ${hits.map((column) => html`
            <li key=${column.name}>
              <${Insert} name=${column.name} />${" "}
              <span class="tiny soft">${column.type}${column.unit ? `, ${column.unit}` : ""}. ${column.meaning}</span>
            </li>
          `)}
        </ul>
      `}
    </details>
  `;
}

function Insert({ name }) {
  return html`
    <button type="button" class="name-button" aria-label=${t("sql.insert", { name })} onClick=${() => insert(name)}>
      ${name}
    </button>
  `;
}

// Puts a name where the caret of the editor is..
function insert(name) {
  const editor = document.querySelector("[data-editor=sql]");
  if (!editor) return;
  editor.focus();
  const before = editor.value.slice(0, editor.selectionStart);
  const gap = before === "" || /[\s(.,]$/.test(before) ? "" : " ";
  editor.setRangeText(`${gap}${name}`, editor.selectionStart, editor.selectionEnd, "end");
  editor.dispatchEvent(new Event("input", { bubbles: true }));
}

const isLast = (table) => !table.name.startsWith(NEWEST_LAYER);
const matches = (table, word) =>
  !word || table.name.includes(word) || table.columns.some((column) => column.name.includes(word));
