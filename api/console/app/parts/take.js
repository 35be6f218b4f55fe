// Taking a table along: the service makes the file, the page saves it.
import { PATHS, address, fetchRaw } from "../api.js";
import { html, useState } from "../html.js";
import { t } from "../i18n.js";
import { tell } from "../state.js";
import { CheckField, Pop } from "./ui.js";

const FORMS = ["csv", "xlsx", "parquet", "json"];

// `source`: path (with query) of the answer whose table is taken; `table`: its name.
export function Take({ source, table, label }) {
  const [bom, setBom] = useState(true);
  const [busy, setBusy] = useState(null);
  const save = async (form) => {
    setBusy(form);
    try {
      const answer = await fetchRaw(address(PATHS.exports, { source, table, form, bom: form === "csv" ? bom : "" }));
      const named = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
      download(await answer.blob(), named ?? `sametrack-${table}.${form}`);
    } catch (error) {
      tell(error.message);
    } finally {
      setBusy(null);
    }
  };
  return html`<${Pop} label=${label ?? t("take.title")}>
    ${FORMS.map((form) => html`<button key=${form} type="button" class="button little" disabled=${busy !== null} onClick=${() => save(form)}>${t(`take.${form}`)}</button>`)}
    <${CheckField} label=${t("take.bom")} value=${bom} onChange=${setBom} /><p class="tiny soft">${t("take.note")}</p><//>`;
}

export function download(blob, name) {
  const place = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = place;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
}
