// Evidence of one comparison: player, measures against their limits, plot and user notes.
import { address, fetchBlob, fetchFile, PATHS, request, unlessAborted } from "../api.js";
import { decimal, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { labelOf, t } from "../i18n.js";
import { link } from "../router.js";
import { lang } from "../state.js";
import { NotePad } from "../parts/notes.js";
import { Player } from "../parts/player.js";
import { Raw } from "../parts/raw.js";
import { Term } from "../parts/term.js";
import { Badge, Card, ErrorNote, Head, Loading, TextField } from "../parts/ui.js";
import { ComparedVideo, referenceId, VERDICTS } from "../parts/video.js";
import "../messages/evidence.js";
import "../messages/result.js";

export function EvidenceView({ id }) {
  const [state, setState] = useState({});
  const read = (signal) =>
    request(`${PATHS.comparisons}/${id}`, { signal, isShown: true }).then(
      (envelope) => setState({ pair: envelope.data }),
      unlessAborted((error) => setState({ error })),
    );
  useEffect(() => {
    const stopping = new AbortController();
    setState({});
    read(stopping.signal);
    return () => stopping.abort();
  }, [id]);
  const { pair, error } = state;
  return html`
    <${Head} title=${t("evidence.title")} lead=${t("evidence.lead")}>
      ${pair && html`
        <a class="button little" href=${link(["job", pair.job_id], { tab: "comparisons" })}>${t("evidence.back")}</a>
      `}
    <//>
    <${ErrorNote} error=${error} />
    ${!pair && !error && html`<${Loading} rows=${5} />`}
    ${pair && html`
      <${Verdict} pair=${pair} />
      <${Sounds} pair=${pair} onRead=${read} />
      <${Measures} pair=${pair} />
      <${EvidencePlot} pair=${pair} />
      <${Notes} id=${id} />
      <${Raw} />
    `}
  `;
}

// Whether speed and pitch are findings; for a rejected pair they are only the best guess.
const isFinding = (evidence) => evidence.verdict === "confirmed" || evidence.verdict === "variant";

function Verdict({ pair }) {
  const { evidence } = pair;
  const isSure = isFinding(evidence);
  const changes = !isSure
    ? []
    : [
        evidence.speed !== null && evidence.speed !== 1 && t("evidence.speed", { factor: evidence.speed.toFixed(2) }),
        evidence.semitones !== null &&
          Math.abs(evidence.semitones) > 0.04 &&
          t("evidence.pitch", { steps: `${evidence.semitones > 0 ? "+" : ""}${evidence.semitones.toFixed(1)}` }),
      ].filter(Boolean);
  return html`
    <${Card}>
      <div class="row">
        <${Badge} tone=${VERDICTS[evidence.verdict] ?? ""}>${t(`verdict.${evidence.verdict}`)}<//>
        <${Term} names=${[evidence.verdict]} />
        <b>${labelOf("reason", evidence.reason)}</b>
        ${evidence.observation && html`<${Badge}>${labelOf("observation", evidence.observation)}<//>`}
        <${NotePad} kind="pair" id=${evidence.comparison_id} />
      </div>
      <p>
        ${changes.length
          ? changes.join(" ")
          : isSure && evidence.speed !== null
            ? t("evidence.unchanged")
            : t("evidence.no_alignment")}
      </p>
      <dl class="pairs">
        <dt>${t("evidence.reference")}</dt>
        <dd>
          <${ComparedVideo}
            id=${referenceId(evidence)}
            musicId=${evidence.reference_music_id}
            video=${pair.videos[referenceId(evidence)]}
          />
          ${evidence.reference_source === "music_service" && html`
            ${" "}<${Badge} tone="info">${t("evidence.of_service")}<//>
          `}
        </dd>
        <dt>${t("evidence.candidate")}</dt>
        <dd>
          <${ComparedVideo}
            id=${evidence.candidate_aweme_id}
            musicId=${evidence.candidate_music_id}
            video=${pair.videos[evidence.candidate_aweme_id]}
          />
        </dd>
        <dt>${t(isSure ? "evidence.matched" : "evidence.aligned")}</dt>
        <dd>
          ${t("evidence.matched_at", {
            reference: decimal(evidence.reference_start_s, 1),
            candidate: decimal(evidence.candidate_start_s, 1),
            overlap: decimal(evidence.overlap_s, 1),
          })}
        </dd>
        ${evidence.searched && html`<dt>${t("evidence.searched")}</dt><dd>${searchedText(evidence.searched)}</dd>`}
        <dt>${t("coverage.algorithm")}</dt>
        <dd class="mono tiny">${evidence.algorithm} · ${evidence.library_version}</dd>
      </dl>
    <//>
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

function Measures({ pair }) {
  return html`
    <${Card} title=${t("evidence.measures")}>
      <div class="measures">
        ${pair.measures.map((measure) => html`<${Measure} key=${measure.name} measure=${measure} />`)}
      </div>
    <//>
  `;
}

function Measure({ measure }) {
  const { name, value, limit, is_met: isMet, lower_is_better: isLow } = measure;
  const most =
    Math.max(value ?? 0, limit ?? 0, name === "score" || name === "peak_agreement" ? 1 : 0) *
      (name === "overlap_s" ? 1.15 : 1.05) || 1;
  const at = (part) => `${Math.min(100, (part / most) * 100)}%`;
  return html`
    <div class=${`measure ${isMet === null ? "" : isMet ? "met" : "missed"}`}>
      <span class="small soft">${t(`measure.${name}`)}</span>
      <span class="value">
        <b>${decimal(value, 3)}</b>
        <small>
          ${limit === null ? t("measure.no_limit") : t(isLow ? "measure.at_most" : "measure.at_least", { limit })}
          ${isMet === null ? "" : ` · ${t(isMet ? "measure.met" : "measure.missed")}`}
        </small>
      </span>
      <span class="gauge" aria-hidden="true">
        <span style=${{ width: at(value ?? 0) }}></span>
        ${limit !== null && html`<i style=${{ insetInlineStart: at(limit) }}></i>`}
      </span>
    </div>
  `;
}

function Sounds({ pair, onRead }) {
  const { reference, candidate } = pair.excerpts;
  const missing = ["reference", "candidate"].filter((role) => !pair.excerpts[role] && isReadable(pair.evidence, role));
  return html`
    <${Card} title=${t("player.title")}>
      ${reference || candidate ? html`
        <${Player}
          reference=${reference}
          candidate=${candidate}
          speed=${pair.evidence.speed ?? 1}
          semitones=${pair.evidence.semitones}
          isSure=${isFinding(pair.evidence)}
        />
      ` : html`<p class="soft">${t("player.none")}</p>`}
      ${!reference && pair.evidence.reference_source === "music_service" && html`
        <p class="small soft">${t("player.song")}</p>
      `}
      ${missing.length > 0 && html`<${ReadAgain} id=${pair.comparison_id} roles=${missing} onRead=${onRead} />`}
    <//>
  `;
}

// Whether the service can read the sound again: it was aligned, and is that of a video.
function isReadable(evidence, role) {
  return (
    evidence.reference_start_s !== null && !(role === "reference" && evidence.reference_source === "music_service")
  );
}

// Reads the sounds that no excerpt was kept of, as a guest: the platform is read only when a user asks for it.
function ReadAgain({ id, roles, onRead }) {
  const [state, setState] = useState({});
  const start = async () => {
    setState({ busy: true });
    const failed = [];
    for (const role of roles) {
      const path = address(`${PATHS.comparisons}/${id}/excerpt/${role}`, { fetch: true });
      await fetchFile(path).catch((error) => failed.push(error));
    }
    setState({ error: failed[0] });
    if (failed.length < roles.length) onRead();
  };
  return html`
    <div class="row">
      <button type="button" class="button little" disabled=${state.busy} onClick=${start}>
        ${t(state.busy ? "player.reading" : "player.read")}
      </button>
      <span class="small soft">${t("player.read_hint")}</span>
    </div>
    <${ErrorNote} error=${state.error} />
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
  if (!place) return html`<${Card} title=${t("evidence.plot")}><p class="soft">${t("evidence.no_plot")}</p><//>`;
  return html`
    <${Card} title=${t("evidence.plot")}>
      <${ErrorNote} error=${state.error} />
      ${state.plotUrl ? html`
        <div class="picture" tabindex="0" role="region" aria-label=${t("evidence.plot")}>
          <img src=${state.plotUrl} alt=${t("evidence.plot_alt")} />
        </div>
      ` : !state.error && html`<${Loading} />`}
      <p class="small soft">${t("evidence.plot_note")}</p>
    <//>
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
