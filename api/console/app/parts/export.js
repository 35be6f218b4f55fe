// Export menu of a table: the service builds the file, the page saves it.
import { PATHS, address, fetchFile } from "../api.js";
import { html, useState } from "../html.js";
import { t } from "../i18n.js";
import { lang, notify } from "../state.js";
import { CheckField, Pop } from "./ui.js";

const FORMS = ["csv", "xlsx", "parquet", "json"];

// `source`: path and query of the response to export; `table`: name of its table.
export function ExportMenu({ source, table, label }) {
  return html`<${FileMenu} label=${label} note=${t("export.note")} fetchForm=${(form, bom) => fetchFile(address(PATHS.exports, { source, table, form, bom: form === "csv" ? bom : "" }))} name=${table} />`;
}

// `fetchForm(form, bom)` returns the response with the file; `name` is part of the name of a file without one.
export function FileMenu({ fetchForm, name, note, label }) {
  const [bom, setBom] = useState(true);
  const [busy, setBusy] = useState(null);
  const save = async (form) => {
    setBusy(form);
    try {
      const answer = await fetchForm(form, bom);
      const named = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
      download(await answer.blob(), named ?? `sametrack-${name}.${form}`);
    } catch (error) {
      notify(error.message);
    } finally {
      setBusy(null);
    }
  };
  return html`<${Pop} label=${label ?? t("export.title")}>
    ${FORMS.map((form) => html`<button key=${form} type="button" class="button little" disabled=${busy !== null} onClick=${() => save(form)}>${t(`export.${form}`)}</button>`)}
    <${CheckField} label=${t("export.bom")} value=${bom} onChange=${setBom} /><p class="tiny soft">${note}</p><//>`;
}

// The result as one page that needs no service, to hand on.
export function ShareButton({ jobId }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const answer = await fetchFile(address(`${PATHS.jobList}/${jobId}/report`, { language: lang.value }));
      download(await answer.blob(), `sametrack-${jobId.slice(0, 8)}.html`);
    } catch (error) {
      notify(error.message);
    } finally {
      setBusy(false);
    }
  };
  return html`<button type="button" class="button little" disabled=${busy} title=${t("export.share_note")} onClick=${save}>${t("export.share")}</button>`;
}

export function download(blob, name) {
  const place = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = place;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
}
