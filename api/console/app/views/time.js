// Engagement over time, from every stored observation. Gaps stay gaps; rounded values are ranges.
import { PATHS, request, unlessAborted } from "../api.js";
import { count, Foreign, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { labelOf, t } from "../i18n.js";
import { go, link } from "../router.js";
import { COLORS, hintOf, TimeLines } from "../parts/charts.js";
import { ExportMenu } from "../parts/export.js";
import { Raw } from "../parts/raw.js";
import { PlainTable } from "../parts/table.js";
import { Card, Empty, ErrorNote, Head, Loading, SelectField, TextField } from "../parts/ui.js";
import "../messages/accounts.js";
import "../messages/figures.js";
import "../messages/page.js";
import "../messages/result.js";

const KINDS = ["video", "track", "account"];
const SHOWN_ROWS = 200;

export function TimeView({ kind: givenKind, id: givenId }) {
  const [kind, setKind] = useState(givenKind ?? "video");
  const [id, setId] = useState(givenId ?? "");
  const [state, setState] = useState({});
  const [round, setRound] = useState(0);
  const place = givenId ? `${PATHS.series}/${givenKind}/${encodeURIComponent(givenId)}` : null;
  useEffect(() => {
    if (!place) {
      setState({}); // of the address before
      return undefined;
    }
    const stopping = new AbortController();
    setKind(givenKind);
    setId(givenId);
    setState({ busy: true });
    request(place, { signal: stopping.signal, isShown: true }).then(
      (envelope) => setState({ data: envelope.data }),
      unlessAborted((error) => setState({ error })),
    );
    return () => stopping.abort();
  }, [place, round]);
  const show = (event) => {
    event.preventDefault();
    if (kind === givenKind && id.trim() === givenId)
      setRound(round + 1); // the same address: read again
    else go(["time", kind, id.trim()]);
  };
  return html`
    <${Head} title=${t("time.title")} lead=${t("time.lead")} />
    <form class="card" onSubmit=${show}>
      <div class="grid">
        <${SelectField}
          label=${t("time.kind")}
          value=${kind}
          onChange=${setKind}
          options=${KINDS.map((name) => [name, t(`time.${name}`)])}
        />
        <${TextField} label=${t(`time.id_${kind}`)} value=${id} onInput=${setId} />
      </div>
      <div class="row">
        <button type="submit" class="button main-act" disabled=${!id.trim() || state.busy}>${t("time.show")}</button>
      </div>
    </form>
    <${ErrorNote} error=${state.error} />
    ${state.busy && html`<${Card}><${Loading} rows=${5} /><//>`}
    ${state.data && html`<${Series} data=${state.data} source=${place} />`}
    ${!place && html`<${Empty} title=${t("time.empty")} icon="clock">${t("time.empty_hint")}<//>`}
    <${Raw} />
  `;
}

function Series({ data, source }) {
  if (!data.points.length) return html`<${Empty} title=${t("time.none")} icon="clock">${t("time.none_hint")}<//>`;
  const isTrack = data.kind === "track";
  // the sum over a track rises when videos are found: its lines show what the same videos gained
  const points = isTrack ? data.points.map((point) => ({ ...point, ...point.growth.gained })) : data.points;
  const nameOf = (name) => t(!isTrack ? `stat.${name}` : name === "work_count" ? "time.observed" : `gained.${name}`);
  const steps = isTrack ? stepsOf(data.points) : [];
  return html`
    <${Card}
      title=${isTrack ? html`
        <a href=${link(["track", data.id])}><${Foreign} text=${data.name} none=${data.id} /></a>
      ` : html`<${Foreign} text=${data.name} none=${data.id} />`}
      aside=${html`<${ExportMenu} source=${source} table="series" />`}
    >
      <p class="small soft">
        ${t("time.note", {
          number: count(data.points.length),
          first: moment(data.points[0].observed_at),
          last: moment(data.points.at(-1).observed_at),
        })}
      </p>
      ${isTrack && html`
        <p class="small soft">
          ${t("time.growth_note")}
          ${steps.length > 0 && html`
            ${" "}<span class="nowrap">
              <svg class="chart step-key" viewBox="0 0 10 9" aria-hidden="true">
                <path class="step" d="M5 0l5 9H0z" />
              </svg>${" "}
              ${t("time.step_key")}
            </span>
          `}
        </p>
      `}
      <p class="small soft no-print">${hintOf(false)}</p>
      <div class="grid two">
        ${data.measures.map((name, at) => html`
          <section key=${name} class="stack tight">
            <h3>${nameOf(name)}</h3>
            <${TimeLines}
              label=${nameOf(name)}
              series=${[lineOf(points, name, at, nameOf(name))]}
              steps=${steps}
              hasHint=${false}
            />
          </section>
        `)}
      </div>
    <//>
    <${Card} title=${t("time.table")}>
      <${PlainTable}
        rows=${data.points.slice(-SHOWN_ROWS).reverse()}
        keyOf=${(row, at) => `${row.observed_at}${at}`}
        caption=${t("time.table")}
        columns=${[
          {
            key: "at",
            label: t("col.observed"),
            class: "nowrap",
            value: (row) => row.observed_at,
            render: (row) => moment(row.observed_at),
          },
          ...data.measures.map((name) => ({
            key: name,
            label: t(`stat.${name}`),
            num: true,
            value: (row) => row[name] ?? row.ranges?.[name]?.[0],
            render: (row) => valueText(row, name),
          })),
          ...(isTrack
            ? [
                {
                  key: "followed",
                  label: t("time.followed"),
                  num: true,
                  value: (row) => row.growth.followed_work_count,
                },
                { key: "new", label: t("time.new"), num: true, value: (row) => row.growth.new_work_count },
              ]
            : [
                {
                  key: "surface",
                  label: t("col.source"),
                  value: (row) => row.surface && labelOf("surface", row.surface),
                },
              ]),
          {
            key: "scan",
            label: t("col.scan"),
            class: "nowrap",
            render: (row) =>
              row.job_ids.length
                ? row.job_ids.map((id, at) => html`
                    <a key=${id} href=${link(["job", id])}>
                      ${row.job_ids.length > 1 ? t("time.scan_of", { at: at + 1 }) : t("act.open")}
                    </a>${" "}
                  `)
                : "—",
          },
        ]}
      />
    <//>
  `;
}

// A scan that found further videos: their counts are no growth.
function stepsOf(points) {
  return points
    .slice(1)
    .filter((point) => point.growth.new_work_count > 0)
    .map((point) => ({
      at: new Date(point.observed_at).getTime(),
      name: t("time.step", { number: count(point.growth.new_work_count) }),
    }));
}

function lineOf(points, name, at, label) {
  return {
    key: name,
    name: label,
    color: COLORS[at % COLORS.length],
    points: points.map((point) => ({
      at: new Date(point.observed_at).getTime(),
      value: point[name],
      low: point.ranges?.[name]?.[0],
      high: point.ranges?.[name]?.[1],
    })),
  };
}
function valueText(row, name) {
  const range = row.ranges?.[name];
  return range ? `${count(range[0])} – ${count(range[1])}` : count(row[name]);
}
