// Evidence of one comparison: the verdict in words, both sounds to hear and to see, and how they were measured.
import { address, fetchBlob, PATHS, request } from "../api.js";
import { decimal, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { either, labelOf, t } from "../i18n.js";
import { link } from "../router.js";
import { lang } from "../state.js";
import { NotePad } from "../parts/notes.js";
import { Player } from "../parts/media/player.js";
import { Raw } from "../parts/raw.js";
import { useDocument } from "../parts/reads.js";
import { Term } from "../parts/term.js";
import { Badge, Card, ErrorNote, Head, Loading, TextField } from "../parts/ui.js";
import { ComparedVideo, likelyKind, referenceId, VERDICTS } from "../parts/video.js";
import "../messages/evidence.js";
import "../messages/result.js";

export function EvidenceView({ id }) {
  const { data: pair, error } = useDocument(`${PATHS.comparisons}/${id}`, { isShown: true });
  return html`
    <${Head} title=${t("evidence.title")}>
      ${pair && html`
        <a class="button little" href=${link(["job", pair.job_id], { tab: "comparisons" })}>${t("evidence.back")}</a>
      `}
    <//>
    <${ErrorNote} error=${error} />
    ${!pair && !error && html`<${Loading} rows=${5} />`}
    ${pair && html`
      <${Verdict} key=${pair.comparison_id} pair=${pair} />
      <${Notes} id=${id} />
      <${Measured} pair=${pair} />
      <${Raw} />
    `}
  `;
}

// Whether speed and pitch are findings; for a rejected pair they are only the best guess.
const isFinding = ({ verdict }) => verdict === "confirmed" || verdict === "variant";

function Verdict({ pair }) {
  const { evidence, videos } = pair;
  const nameOf = (id, musicId) => html`<${ComparedVideo} id=${id} musicId=${musicId} video=${videos[id]} />`;
  const names = {
    reference: html`
      ${nameOf(referenceId(evidence), evidence.reference_music_id)}
      ${evidence.reference_source === "music_service" && html`<${Badge} tone="info">${t("evidence.of_service")}<//>`}
    `,
    candidate: nameOf(evidence.candidate_aweme_id, evidence.candidate_music_id),
  };
  return html`
    <${Card}>
      <div class="row">
        <${Badge} tone=${VERDICTS[evidence.verdict] ?? ""}>${t(`verdict.${evidence.verdict}`)}<//>
        <${Term} names=${[evidence.verdict]} />
        <${NotePad} kind="pair" id=${evidence.comparison_id} />
      </div>
      <h2 class="verdict-text">${either(pair.verdict_text, pair.verdict_text_zh)}</h2>
      <${Player} pair=${pair} names=${names} isSure=${isFinding(evidence)} />
    <//>
  `;
}

// The measures with their limits, what was searched, and the plot, which is read when it is opened.
function Measured({ pair }) {
  const [isOpen, setOpen] = useState(false);
  const { evidence } = pair;
  return html`
    <details class="card fold" onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>${t("evidence.how")}</summary>
      <div class="stack">
        <p class="small soft">${t("evidence.how_lead")}</p>
        <div class="measures">
          ${pair.measures.map((measure) => html`<${Measure} key=${measure.name} measure=${measure} />`)}
        </div>
        <dl class="pairs">
          <dt>${t("col.reason")}</dt>
          <dd>
            ${labelOf("reason", evidence.reason)}
            ${likelyKind(evidence) && ` · ${likelyKind(evidence)}`}
          </dd>
          ${typeof evidence.version_score === "number" && html`
            <dt>${t("evidence.version_score")}</dt><dd>${decimal(evidence.version_score, 2)}</dd>
          `}
          ${evidence.searched && html`<dt>${t("evidence.searched")}</dt><dd>${searchedText(evidence.searched)}</dd>`}
          <dt>${t("coverage.algorithm")}</dt>
          <dd class="mono tiny">${evidence.algorithm} · ${evidence.library_version}</dd>
        </dl>
        ${isOpen && html`<${EvidencePlot} pair=${pair} />`}
      </div>
    </details>
  `;
}

// The range that the comparison searched: a rejection holds only within it.
function searchedText({
  speed: [slow, fast],
  semitones: [low, high],
  tempo_with_pitch: [least, most],
  min_overlap_s: overlap,
  reference_s: reference,
  candidate_s: candidate,
  min_excerpt_s: leastExcerpt,
}) {
  const edits =
    slow === fast
      ? t("evidence.searched_unchanged")
      : t("evidence.searched_edits", { slow, fast, low, high: `+${high}` });
  const both = least === most ? "" : ` ${t("evidence.searched_both", { least, most })}`;
  const excerpts = leastExcerpt ? ` ${t("evidence.searched_excerpts", { least: leastExcerpt })}` : "";
  const seconds = { overlap, reference: decimal(reference, 0), candidate: decimal(candidate, 0) };
  return `${edits}${both} ${t("evidence.searched_used", seconds)}${excerpts}`;
}

function Measure({ measure }) {
  const { name, value, limit, is_met: isMet, lower_is_better: isLow } = measure;
  const most =
    Math.max(value ?? 0, limit ?? 0, name === "score" || name === "peak_agreement" ? 1 : 0) *
      (name === "overlap_s" ? 1.15 : 1.05) || 1;
  const at = (part) => `${Math.min(100, (part / most) * 100)}%`;
  return html`
    <div class=${`measure ${isMet === null ? "" : isMet ? "met" : "missed"}`}>
      <span class="small">${t(`measure.${name}`)}</span>
      <span class="value">
        <b>${decimal(value, name === "overlap_s" ? 1 : 3)}</b>
        <small>
          ${limit === null ? t("measure.no_limit") : t(isLow ? "measure.at_most" : "measure.at_least", { limit })}
          ${isMet === null ? "" : ` · ${t(isMet ? "measure.met" : "measure.missed")}`}
        </small>
      </span>
      <span class="gauge" aria-hidden="true">
        <span style=${{ width: at(value ?? 0) }}></span>
        ${limit !== null && html`<i style=${{ insetInlineStart: at(limit) }}></i>`}
      </span>
      <span class="tiny soft">${t(`measure.${name}_means`)}</span>
    </div>
  `;
}

function EvidencePlot({ pair }) {
  const [state, setState] = useState({});
  const place = pair.picture.svg && address(pair.picture.svg, { language: lang.value });
  useEffect(() => {
    if (!place) return undefined;
    let plotUrl = null;
    let isGone = false;
    fetchBlob(place).then(
      (blob) => {
        if (isGone) return;
        plotUrl = URL.createObjectURL(blob);
        setState({ plotUrl });
      },
      (error) => setState({ error }),
    );
    return () => {
      isGone = true;
      if (plotUrl) URL.revokeObjectURL(plotUrl);
    };
  }, [place]);
  if (!place) return html`<p class="small soft">${t("evidence.no_plot")}</p>`;
  return html`
    <h3>${t("evidence.plot")}</h3>
    <${ErrorNote} error=${state.error} />
    ${state.plotUrl ? html`
      <div class="picture" tabindex="0" role="region" aria-label=${t("evidence.plot")}>
        <img src=${state.plotUrl} alt=${t("evidence.plot_alt")} />
      </div>
    ` : !state.error && html`<${Loading} />`}
    <p class="small soft">${t("evidence.plot_note")}</p>
  `;
}

function Notes({ id }) {
  const [notes, setNotes] = useState(null);
  const [note, setNote] = useState("");
  const [error, setError] = useState(null);
  const place = `${PATHS.comparisons}/${id}/annotations`;
  useEffect(() => {
    request(place).then((envelope) => setNotes(envelope.data.annotations), setError);
  }, [place]);
  const add = (verdict) =>
    request(place, { method: "POST", body: note.trim() ? { verdict, note: note.trim() } : { verdict } }).then(
      (envelope) => {
        setNotes(envelope.data.annotations);
        setNote("");
        setError(null);
      },
      setError,
    );
  return html`
    <${Card} title=${t("notes.title")}>
      <p class="soft small">${t("notes.lead")}</p>
      <${TextField} label=${t("notes.note")} value=${note} onInput=${setNote} maxlength="500" />
      <div class="row">
        <button type="button" class="button" onClick=${() => add("same")}>${t("notes.same")}</button>
        <button type="button" class="button" onClick=${() => add("not_the_same")}>${t("notes.not_the_same")}</button>
      </div>
      <${ErrorNote} error=${error} />
      ${notes?.length > 0 && html`
        <ul class="list small">
          ${notes.map((annotation, at) => html`
            <li key=${at} class="row">
              <${Badge} tone=${annotation.verdict === "same" ? "good" : "bad"}>${t(`notes.${annotation.verdict}`)}<//>
              <bdi>${annotation.note ?? ""}</bdi>
              <span class="soft">${moment(annotation.annotated_at)}</span>
            </li>
          `)}
        </ul>
      `}
    <//>
  `;
}
