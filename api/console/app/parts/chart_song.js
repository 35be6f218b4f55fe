// A chart song compared with the platform: its music ids with reasons, the curve of their videos,
// and the estimated lead or lag. A missing estimate shows its reason.
import { PATHS, request } from "../api.js";
import { DASH, Foreign, count, decimal, moment } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { COLORS, TimeLines } from "./charts.js";
import { notify } from "../state.js";
import { Badge, Card, Empty, ErrorNote, Loading, TextField } from "./ui.js";
import { PlainTable } from "./table.js";
import "../messages/accounts.js";
import "../messages/chart.js";

const TONES = { same: "good", possible: "warn", different: "bad" };
const CONFIDENCES = ["manual", "high", "medium", "low"];
// Sorts by relation, then confidence; direct links come before those through another music id.
const orderOf = (link) =>
  Object.keys(TONES).indexOf(link.relation) * 10 +
  CONFIDENCES.indexOf(link.confidence) * 2 +
  (link.via_music_id ? 1 : 0);
const label = (group, name) => (name ? t(`song.${group}.${name}`) : DASH);
const days = (value) => (value === null || value === undefined ? DASH : decimal(value, 1));

export function ChartSongCard({ songKey }) {
  const [state, setState] = useState({});
  const place = `${PATHS.chartSongs}/${encodeURIComponent(songKey)}`;
  useEffect(() => {
    const stopping = new AbortController();
    setState({});
    request(place, { signal: stopping.signal }).then(
      (envelope) => setState({ data: envelope.data }),
      (error) => {
        if (error.name !== "AbortError") setState({ error });
      },
    );
    return () => stopping.abort();
  }, [songKey]);
  const judge = async () => {
    setState({ ...state, busy: true, error: null });
    try {
      const { data: judged } = await request(PATHS.chartJudge, { method: "POST" });
      setState({ data: (await request(place)).data });
      notify(t("song.judged", { songs: count(judged.song_count), rows: count(judged.row_count) }));
    } catch (error) {
      setState({ data: state.data, error });
    }
  };
  const decide = async (musicId, said) => {
    setState({ ...state, busy: true, error: null });
    try {
      setState({
        data: (
          await request(PATHS.chartLinks, { method: "POST", body: { song_key: songKey, music_id: musicId, said } })
        ).data,
      });
      return true;
    } catch (error) {
      setState({ data: state.data, error });
      return false;
    }
  };
  if (!state.data)
    return state.error ? html`<${ErrorNote} error=${state.error} />` : html`<${Card}><${Loading} rows=${4} /><//>`;
  return html`
    <${Found} song=${state.data} busy=${state.busy} error=${state.error} onJudge=${judge} onDecide=${decide} />
  `;
}

// What a person knows better than the rules; its decision can be withdrawn.
function ManualLink({ busy, onDecide }) {
  const [id, setId] = useState("");
  const decide = async (said) => {
    if (await onDecide(id.trim(), said)) setId("");
  };
  return html`
    <details class="fold">
      <summary>${t("song.manual")}</summary>
      <${TextField}
        label=${t("song.music_id")}
        value=${id}
        onInput=${setId}
        inputmode="numeric"
        pattern="[0-9]{5,30}"
        hint=${t("song.manual_hint")}
      />
      <div class="row">
        ${["same", "different", "withdrawn"].map((said) => html`
          <button
            type="button"
            key=${said}
            class="button little"
            disabled=${busy || !/^[0-9]{5,30}$/u.test(id.trim())}
            onClick=${() => decide(said)}
          >
            ${t(`song.manual_${said}`)}
          </button>
        `)}
      </div>
    </details>
  `;
}

function Found({ song, busy, error, onJudge, onDecide }) {
  const { chart, lead, links, platform } = song;
  const columns = [
    // two columns, so that a phone in portrait shows the reason
    {
      key: "id",
      label: t("song.music_id"),
      class: "cell-title",
      render: (row) => html`
        <a href=${`#/time/track/${row.music_id}`}>${row.music_id}</a>
        <div class="small soft"><${Foreign} text=${row.music_title} /> · <${Foreign} text=${row.music_author} /></div>
      `,
    },
    {
      key: "relation",
      label: t("song.link"),
      render: (row) => html`
        <${Badge} tone=${TONES[row.relation] ?? ""}>${label("relation", row.relation)}<//>${" "}
        <span class="small soft" style=${{ whiteSpace: "nowrap" }}>${label("confidence", row.confidence)}</span>
        <div class="small" style=${{ overflowWrap: "anywhere" }}>
          ${label("reason", row.reason)}
          ${row.via_music_id && html`${" "}<span class="soft">${t("song.via", { id: row.via_music_id })}</span>`}
        </div>
      `,
    },
  ];
  // the first stored issue is the entry only if the issue before it is known
  const marks = chart.entry_after_date
    ? [{ at: Date.parse(chart.first_chart_date), name: t("song.entry", { date: chart.first_chart_date }) }]
    : [];
  const points = platform.points.map((point) => ({
    at: new Date(point.observed_at).getTime(),
    value: point.growth.gained.digg_count,
  }));
  return html`
    <${Card}
      title=${t("song.title")}
      aside=${html`
        <span class="row">
          <span class="small soft">${song.song_key}</span>
          <button type="button" class="button little" disabled=${busy} onClick=${onJudge}>
            ${t(busy ? "song.judging" : "song.judge")}
          </button>
        </span>
      `}
    >
      <${ErrorNote} error=${error} />
      <p>
        <b><${Foreign} text=${song.title} /></b>${" "}
        <${Foreign} text=${song.artist} /> ·${" "}
        ${t("song.standing", {
          issues: count(chart.issue_count),
          kept: count(chart.kept_issue_count),
          first: chart.first_chart_date,
          rank: chart.best_rank,
        })}
      </p>
      ${links.length ? html`
        <${PlainTable}
          rows=${[...links].sort((a, b) => orderOf(a) - orderOf(b))}
          columns=${columns}
          keyOf=${(row) => row.music_id}
          caption=${t("song.title")}
        />
      ` : html`<${Empty} title=${t("song.none")} icon="chart">${t("song.none_hint")}<//>`}
      <${ManualLink} busy=${busy} onDecide=${onDecide} />
      ${points.length > 0 && html`
        <h3>${t("song.curve")}</h3>
        <${TimeLines}
          label=${t("song.curve")}
          unit=${t("gained.digg_count")}
          series=${[{ key: "likes", name: t("gained.digg_count"), color: COLORS[0], points }]}
          marks=${marks}
        />
      `}
      <p class="row">
        ${lead.lead_days === null ? html`<span>${t("song.no_lead")} ${label("lead_reason", lead.reason)}</span>` : html`
          <b>${t(lead.lead_days < 0 ? "song.lag" : "song.lead", { days: days(Math.abs(lead.lead_days)) })}</b>
        `}
        ${lead.low_days !== null && html`
          <span>
            ${t(lead.low_days < 0 ? "song.bounds_below" : "song.bounds", {
              low: days(lead.low_days),
              high: days(lead.high_days),
            })}
          </span>
        `}
        ${lead.direction && html`
          <${Badge} tone=${lead.direction === "undecided" ? "" : "info"}>${label("direction", lead.direction)}<//>
        `}
      </p>
      <p class="small soft">
        ${t("song.observations", {
          observations: count(lead.observation_count),
          works: count(lead.work_count),
          days: count(lead.observed_day_count),
        })}
        ${
          lead.rise_before &&
          ` ${t("song.rise", {
            after: lead.rise_after ? moment(lead.rise_after) : DASH,
            before: moment(lead.rise_before),
          })}`
        }${" "}
        ${t("song.note")}
      </p>
    <//>
  `;
}
