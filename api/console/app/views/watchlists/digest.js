// The newest digest of a watchlist: changes by entry and kind, with their numbers.
import { request } from "../../api.js";
import { Foreign, count, moment } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { labelOf, named, t } from "../../i18n.js";
import { Badge, ErrorNote, Loading } from "../../parts/ui.js";
import "../../messages/watchlists.js";

const KINDS = {
  fast_works: (one) => [one.title, one.aweme_id, t("digest.per_day", { number: count(Math.round(one.velocity)) })],
  rank_changes: (one) => [one.title, one.aweme_id, `${count(one.before)} → ${count(one.after)}`],
  new_music_ids: (one) => [null, one.music_id, t("digest.works", { number: count(one.work_count) })],
  new_works: (one) => [one.title, one.aweme_id, one.rank ? `#${count(one.rank)}` : ""],
  vanished_works: (one) => [one.title, one.aweme_id, one.reason ?? t("digest.not_shown")],
};

export function Digest({ place }) {
  const [state, setState] = useState({});
  useEffect(() => {
    const stopping = new AbortController();
    request(`${place}/digests`, { query: { limit: 1 }, signal: stopping.signal }).then(
      (envelope) => setState({ digest: envelope.data.digests[0] ?? null }),
      (error) => {
        if (error.name !== "AbortError") setState({ error });
      },
    );
    return () => stopping.abort();
  }, [place]);
  const { digest, error } = state;
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (digest === undefined) return html`<${Loading} rows=${2} />`;
  if (digest === null) return html`<p class="small soft">${t("digest.none")}</p>`;
  return html`
    <h3>
      ${t("digest.title", { when: moment(digest.ended_at) })}${" "}
      <${Badge}>${t("watchlist.changes", { number: count(digest.change_count) })}<//>
    </h3>
    ${digest.entries.map((entry) => html`<${Entry} key=${`${entry.kind}${entry.input}`} entry=${entry} />`)}
  `;
}

// A count of the subject, with what changed since the run before, if both are known.
function figureText({ after, change, per_day: perDay }) {
  if (change === null) return count(after);
  const signed = (value) => `${value > 0 ? "+" : ""}${count(Math.round(value))}`;
  return t(perDay === null ? "digest.change" : "digest.change_per_day", {
    number: count(after),
    change: signed(change),
    rate: perDay === null ? "" : signed(perDay),
  });
}

function Entry({ entry }) {
  const { changes } = entry;
  const found = changes ? Object.keys(KINDS).filter((kind) => changes[kind].length) : [];
  const figures = changes?.figures.map((one) => named(labelOf("figure", one.name), figureText(one))) ?? [];
  return html`
    <div class="small">
      <b>${t(`watchlist.kind.${entry.kind}`)} <${Foreign} text=${entry.title ?? entry.input} /></b>
      ${entry.error && html`${" "}<${Badge} tone="bad">${labelOf("stop", entry.error.type)}<//>`}
      ${figures.length > 0 && html`<div class="soft">${figures.join(" · ")}</div>`}
      ${changes && !found.length && html`
        ${" "}<span class="soft">${t(changes.since ? "digest.nothing" : "digest.first")}</span>
      `}
      ${found.map((kind) => html`
        <div key=${kind}>
          ${t(`digest.${kind}`)}
          <ul class="list">
            ${changes[kind].map(KINDS[kind]).map(([title, id, note]) => html`
              <li key=${id}>
                ${title && html`<${Foreign} text=${title} />${" "}`}
                <span class="mono tiny">${id}</span> <span class="soft">${note}</span>
              </li>
            `)}
          </ul>
        </div>
      `)}
    </div>
  `;
}
