// A term of the project with its explanation behind a button, beside the place where it is used.
import { html } from "../html.js";
import { t } from "../i18n.js";
import { useId } from "./ui.js";
import "../messages/evidence.js";
import "../messages/result.js";
import "../messages/terms.js";

// The name of each explained term, as the page writes it.
const NAMES = { candidate: "fig.pool", coverage: "tab.coverage", estimate: "coverage.estimates" };
const nameOf = (term) => t(NAMES[term] ?? `verdict.${term}`);

// `names`: the terms that one button explains.
export function Term({ names }) {
  const id = useId("term");
  const list = names.map(nameOf).join(", ");
  return html`
    <button type="button" class="term" popovertarget=${id} aria-label=${t("term.ask", { name: list })} title=${list}>
      ?
    </button>
    <div class="term-text" id=${id} popover="auto">
      ${names.map((name) => html`<p key=${name}><b>${nameOf(name)}</b> ${t(`term.${name}`)}</p>`)}
    </div>
  `;
}
