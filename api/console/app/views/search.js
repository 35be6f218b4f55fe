// Song search by title. It matches text only and confirms nothing.
import { PATHS, request } from "../api.js";
import { html, signal, useState } from "../html.js";
import { t } from "../i18n.js";
import { Raw } from "../parts/raw.js";
import { Recent } from "../parts/recent.js";
import { NumberField, openJob, SEARCH_NAMES, searchBody } from "../parts/scan_request.js";
import { ErrorNote, Head, TextField } from "../parts/ui.js";
import "../messages/page.js";
import "../messages/result.js";
import "../messages/scan.js";

const draft = signal({ keyword: "", values: {} }); // survives switching to another view

export function SearchView() {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const { keyword, values } = draft.value;
  const set = (name, value) => {
    draft.value = { keyword, values: { ...values, [name]: value } };
  };
  const body = searchBody(keyword, values);
  const start = (event) => {
    event.preventDefault();
    setBusy(true);
    request(PATHS.jobs, { method: "POST", body, isShown: true })
      .then(openJob, setError)
      .finally(() => setBusy(false));
  };
  return html`
    <${Head} title=${t("search.title")} lead=${t("search.lead")} />
    <form class="card" onSubmit=${start}>
      <${TextField}
        label=${t("search.keyword")}
        value=${keyword}
        onInput=${(value) => {
          draft.value = { keyword: value, values };
        }}
        placeholder=${t("search.placeholder")}
        maxlength="100"
        hint=${t("search.hint")}
      />
      <details class="fold">
        <summary>${t("hot.more")}</summary>
        <div class="grid">
          ${SEARCH_NAMES.map((name) => html`
            <${NumberField} key=${name} name=${name} value=${values[name]} onInput=${set} />
          `)}
        </div>
      </details>
      <div class="row">
        <button type="submit" class="button main-act" disabled=${busy || !keyword.trim()}>
          ${t(busy ? "act.starting" : "search.start")}
        </button>
      </div>
      <${ErrorNote} error=${error} />
    </form>
    <div class="note info"><h2>${t("result.by_name")}</h2><p>${t("result.by_name_hint")}</p></div>
    <${Raw} planned=${keyword.trim() ? { method: "POST", place: PATHS.jobs, body } : undefined} />
    <${Recent} />
  `;
}
