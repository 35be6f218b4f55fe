// Chart history: one issue per ten days, as rank lines and as a table; and a song of it beside the platform.
import { address, PATHS, request, unlessAborted } from "../api.js";
import { count, DASH, decimal, Foreign, moment, seconds, visible } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { labelOf, named, t } from "../i18n.js";
import { link, replaceAddress, useAddress } from "../router.js";
import { Bump, COLORS, TimeLines } from "../parts/charts.js";
import { ExportMenu } from "../parts/export.js";
import { Raw } from "../parts/raw.js";
import { useDocument, useParameter } from "../parts/reads.js";
import { MUSIC_ID } from "../parts/scan_request.js";
import { PlainTable } from "../parts/table.js";
import { Badge, Card, Empty, ErrorNote, Head, Loading, SelectField, TextField } from "../parts/ui.js";
import "../messages/accounts.js";
import "../messages/chart.js";
import "../messages/page.js";

const MOST_DATES = 6; // of one reason
const REASONS = new Set(["no_issue_within_10_days", "issue_incomplete"]); // others are types of errors
const NOT_READ = "not_collected_yet"; // the service reads it in the background
const daysAgo = (days) => new Date(Date.now() - days * 864e5).toISOString().slice(0, 10);

// One line per song: its rank in each issue, null where it is not among the first `depth`.
function linesOf(snapshots, depth) {
  const songs = new Map();
  snapshots.forEach((snapshot, at) =>
    snapshot.songs.forEach((song) => {
      const key = song.song_key ?? `${song.title}|${song.artist}`;
      if (!songs.has(key))
        songs.set(key, {
          key,
          name: visible(`${song.title} · ${song.artist ?? ""}`),
          ranks: Array(snapshots.length).fill(null),
        });
      songs.get(key).ranks[at] = song.rank;
    }),
  );
  // songs with the most presence first: the sum of their distances from the last place over all issues
  const presence = (song) => song.ranks.reduce((sum, rank) => sum + (rank === null ? 0 : depth + 1 - rank), 0);
  return [...songs.values()].sort((a, b) => presence(b) - presence(a));
}

// The day of an issue, by which plot, table and export name it; of a date without an issue, that date.
const dayOf = (snapshot) => snapshot.chart_date ?? snapshot.target_date;
// Days of the chart are those of its place; times are written in UTC, and say so.
const inUtc = (value) => (value ? `${moment(value, "UTC")} UTC` : DASH);

export function ChartView({ query }) {
  const [start, setStart] = useState(query.start ?? daysAgo(90));
  const [end, setEnd] = useState(query.end ?? daysAgo(0));
  const [state, setState] = useState({});
  const currentPeriod = useRef(null); // that is displayed or being read
  const read = async (from = start, to = end) => {
    const period = (currentPeriod.current = `${from} ${to}`);
    const update = (next) => {
      if (currentPeriod.current === period) setState(next); // else another period was requested meanwhile
    };
    setState({ busy: true });
    const isSame = query.start === from && query.end === to;
    replaceAddress(["chart"], { ...(isSame && query), start: from, end: to });
    try {
      const parameters = { start_date: from, end_date: to };
      update({ parameters, data: (await request(PATHS.chart, { query: parameters, isShown: true })).data });
    } catch (error) {
      update({ error });
    }
  };
  // Another address, or Back, shows another period.
  useEffect(() => {
    if (!query.start || !query.end || `${query.start} ${query.end}` === currentPeriod.current) return;
    setStart(query.start);
    setEnd(query.end);
    read(query.start, query.end);
  }, [query.start, query.end]);
  return html`
    <${Head} title=${t("chart.title")} lead=${t("chart.lead")} />
    <form
      class="card"
      onSubmit=${(event) => {
        event.preventDefault();
        read();
      }}
    >
      <div class="grid">
        <${TextField}
          type="date"
          label=${t("chart.start")}
          value=${start}
          onInput=${setStart}
          min="2021-01-01"
          required
        />
        <${TextField} type="date" label=${t("chart.end")} value=${end} onInput=${setEnd} min="2021-01-01" required />
      </div>
      <p class="small soft">${t("chart.hint")}</p>
      <div class="row">
        <button type="submit" class="button main-act" disabled=${state.busy}>
          ${t(state.busy ? "act.reading" : "chart.read")}
        </button>
      </div>
    </form>
    <${ErrorNote} error=${state.error} onRetry=${state.error ? () => read() : undefined} />
    ${state.busy && html`<${Card}><${Loading} rows=${6} /><//>`}
    ${state.data && html`
      <${Issues}
        data=${state.data}
        query=${query}
        onRead=${() => read()}
        source=${address(PATHS.chart, state.parameters)}
      />
    `}
    ${!state.data && !state.busy && !state.error && html`
      <${Empty} title=${t("chart.empty")} icon="chart">${t("chart.empty_hint")}<//>
    `}
    <${Raw} />
  `;
}

function Issues({ data, query, source, onRead }) {
  const [chosen, setChosen] = useState(null);
  const [songKey, setSongKey] = useAddress(["chart"], query, "song");
  const [chosenIssue, setChosenIssue] = useAddress(["chart"], query, "issue");
  const newest = String(
    Math.max(
      0,
      data.snapshots.findLastIndex(({ songs }) => songs.length),
    ),
  );
  const at = data.snapshots[chosenIssue] ? chosenIssue : newest;
  const lines = useMemo(() => linesOf(data.snapshots, data.limit), [data]);
  const scanned = useDocument(PATHS.chartTracks).data?.tracks ?? []; // the surest of each song first
  const issue = data.snapshots[Number(at)];
  const earlier = data.snapshots[Number(at) - 1];
  if (!lines.length)
    return html`
      <${Card}>
        ${data.not_collected_count === 0 && html`<${Empty} title=${t("chart.none")} icon="chart" />`}
        <${Gaps} data=${data} onRead=${onRead} />
      <//>
    `;
  const scanOf = (row) => scanned.find((track) => track.song_key === row.song_key);
  const columns = [
    {
      key: "rank",
      label: "#",
      num: true,
      ascends: true,
      value: (row) => row.rank,
      render: (row) => html`<span class="rank">${row.rank}</span>`,
    },
    {
      key: "title",
      label: t("chart.song"),
      class: "cell-title",
      value: (row) => row.title,
      render: (row) => html`
        <b><${SongTitle} row=${row} track=${scanOf(row)} /></b>
        <div class="small soft"><${Foreign} text=${row.artist} /></div>
      `,
    },
    scanned.length > 0 && {
      key: "scan",
      label: t("chart.scan"),
      value: (row) => scanOf(row) && t("chart.result"),
      render: (row) => html`<${ScanLink} track=${scanOf(row)} />`,
    },
    {
      key: "change",
      label: t("chart.change"),
      value: (row) => row.rank_change,
      render: (row) => html`<${Change} row=${row} />`,
    },
    { key: "before", label: t("chart.before"), num: true, ascends: true, value: (row) => row.previous_rank },
    // what the plot shows one point earlier
    earlier && {
      key: "earlier",
      label: t("chart.on_day", { date: dayOf(earlier) }),
      num: true,
      ascends: true,
      value: (row) => earlier.songs.find((song) => song.song_key === row.song_key)?.rank,
    },
    {
      key: "long",
      label: t("chart.duration"),
      num: true,
      value: (row) => row.duration,
      render: (row) => seconds(row.duration),
    },
  ].filter(Boolean);
  return html`
    <${Card} title=${t("chart.ranks")} aside=${html`<${ExportMenu} source=${source} table="chart" />`}>
      <${Bump}
        songs=${lines.filter((line) => !songKey || line.key === songKey)}
        labels=${data.snapshots.map((snapshot) => dayOf(snapshot).slice(2))}
        depth=${data.limit}
        label=${t("chart.ranks")}
        chosen=${chosen}
        onChoose=${setChosen}
      />
      <p class="small soft">${t("chart.zone")}</p>
      <${SelectField}
        label=${t("chart.follow")}
        value=${songKey}
        onChange=${setSongKey}
        options=${[
          ["", t("chart.all_songs", { number: count(lines.length) })],
          ...lines.map((line) => [line.key, line.name.slice(0, 60)]),
        ]}
      />
      <${Gaps} data=${data} onRead=${onRead} />
    <//>
    ${songKey && html`<${ChartSongCard} key=${songKey} songKey=${songKey} />`}
    <${Card}
      title=${t("chart.issue")}
      aside=${issue && html`
        <span class="small soft">
          ${issue.issue_name ?? ""} · ${issue.volid ?? "—"}
          ${issue.day_offset
            ? ` · ${t("chart.offset", { days: issue.day_offset, date: issue.target_date })}`
            : ""}
        </span>
      `}
    >
      <${SelectField}
        label=${t("chart.node")}
        value=${at}
        onChange=${setChosenIssue}
        options=${data.snapshots.map((snapshot, place) => [
          String(place),
          snapshot.chart_date ?? named(snapshot.target_date, t("chart.no_issue")),
        ])}
      />
      <${PlainTable} rows=${issue.songs} columns=${columns} keyOf=${(row) => row.rank} caption=${t("chart.issue")} />
    <//>
  `;
}

// Dates and issues that the chart does not have, with reasons.
function Gaps({ data, onRead }) {
  const nodes = Map.groupBy(
    data.snapshots.filter((snapshot) => snapshot.reason && snapshot.reason !== NOT_READ),
    (snapshot) => snapshot.reason,
  );
  const reasonText = (reason, number) =>
    REASONS.has(reason)
      ? t(`chart.reason.${reason}`, { number, limit: data.limit })
      : t("chart.reason.other", { number, why: labelOf("stop", reason) });
  return html`
    ${data.not_collected_count > 0 && html`
      <div class="note info row apart" role="status">
        <p>${t("chart.reading", { number: count(data.not_collected_count) })}</p>
        <button type="button" class="button little" onClick=${onRead}>${t("act.retry")}</button>
      </div>
    `}
    ${[...nodes].map(([reason, missing]) => html`
      <p key=${reason} class="small soft">
        ${reasonText(reason, count(missing.length))}${" "}
        ${missing
          .slice(0, MOST_DATES)
          .map((snapshot) => snapshot.target_date)
          .join(", ")}
        ${missing.length > MOST_DATES ? ", …" : ""}
      </p>
    `)}
    ${!data.issues_refreshed && html`<p class="small soft">${t("chart.not_refreshed")}</p>`}
    ${(data.end_date_cut || data.next_issue_by) && html`
      <p class="small soft">
        ${t("chart.latest", { date: data.latest_chart_date })}${" "}
        ${data.next_issue_by && t("chart.next", { time: inUtc(data.next_issue_by) })}
      </p>
    `}
  `;
}

// The title of a song, with the page of its track if that was scanned.
function SongTitle({ row, track }) {
  const title = html`<${Foreign} text=${row.title} />`;
  return track ? html`<a href=${link(["track", track.music_id])}>${title}</a>` : title;
}

// The result of a song that was scanned; a track that only may be the song is marked.
function ScanLink({ track }) {
  if (!track) return html`<span class="soft">${DASH}</span>`;
  return html`
    <a class="small" href=${link(["job", track.newest_job_id])}>${t("chart.result")}</a>
    ${track.relation === "possible" && html`${" "}<${Badge} tone="warn">${t("song.relation.possible")}<//>`}
  `;
}

function Change({ row }) {
  if (row.is_new) return html`<${Badge} tone="info">${t("chart.new")}<//>`;
  if (row.rank_change === null || row.rank_change === undefined) return html`<span class="soft">—</span>`;
  if (row.rank_change === 0) return html`<span class="soft">${t("chart.same")}</span>`;
  return html`
    <${Badge} bare tone=${row.rank_change > 0 ? "good" : "bad"}>
      ${row.rank_change > 0 ? "▲" : "▼"} ${Math.abs(row.rank_change)}
    <//>
  `;
}

const TONES = { same: "good", possible: "warn", different: "bad" };
const label = (group, name) => (name ? t(`song.${group}.${name}`) : DASH);

// Who was first and by how many days, in sentences that follow from the bounds: an estimate whose bounds allow either
// order says no order.
function leadText({ direction, reason, lead_days: lead, low_days: low, high_days: high }) {
  const days = (value) => decimal(Math.abs(value), 1);
  const why = label("lead_reason", reason);
  if (!direction) return `${t("song.no_lead")} ${why}`;
  const isEstimated = lead !== null;
  const [least, most] = direction === "chart_first" ? [high, low] : [low, high];
  const sentences =
    direction === "undecided"
      ? [t("song.undecided", { behind: days(low), ahead: days(high) })]
      : [
          isEstimated ? t(`song.${direction}_days`, { days: days(lead) }) : t(`song.${direction}`),
          most === null
            ? t("song.least", { least: days(least) })
            : t("song.bounds", { least: days(least), most: days(most) }),
        ];
  return [...sentences, ...(isEstimated ? [] : [`${t("song.no_days")} ${why}`])].join(" ");
}

// A chart song compared with the platform: its music ids with reasons, the curve of their videos, and the estimated
// lead or lag. A missing estimate shows its reason.
function ChartSongCard({ songKey }) {
  const [state, setState] = useState({});
  const place = `${PATHS.chartSongs}/${encodeURIComponent(songKey)}`;
  useEffect(() => {
    const stopping = new AbortController();
    setState({});
    request(place, { signal: stopping.signal }).then(
      (envelope) => setState({ data: envelope.data }),
      unlessAborted((error) => setState({ error })),
    );
    return () => stopping.abort();
  }, [songKey]);
  const decide = async (musicId, relation) => {
    setState({ ...state, busy: true, error: null });
    try {
      const body = { song_key: songKey, music_id: musicId, said: relation };
      setState({ data: (await request(PATHS.chartLinks, { method: "POST", body })).data });
      return true;
    } catch (error) {
      setState({ data: state.data, error });
      return false;
    }
  };
  if (!state.data)
    return state.error ? html`<${ErrorNote} error=${state.error} />` : html`<${Card}><${Loading} rows=${4} /><//>`;
  return html`
    <${ChartSong} song=${state.data} busy=${state.busy} error=${state.error} onDecide=${decide} />
  `;
}

// A decision of the user, which counts more than the rules and can be withdrawn.
function ManualLink({ busy, onDecide }) {
  const [id, setId] = useState("");
  const relations = useParameter(PATHS.chartLinks, "said", "POST")?.allowed ?? [];
  const isMusicId = MUSIC_ID.test(id.trim());
  const decide = async (relation) => {
    if (await onDecide(id.trim(), relation)) setId("");
  };
  return html`
    <details class="fold">
      <summary>${t("song.manual")}</summary>
      <${TextField}
        label=${t("song.music_id")}
        value=${id}
        onInput=${setId}
        inputmode="numeric"
        pattern=${MUSIC_ID.source}
        hint=${t("song.manual_hint")}
      />
      <div class="row">
        ${relations.map((relation) => html`
          <button
            type="button"
            key=${relation}
            class="button little"
            disabled=${busy || !isMusicId}
            onClick=${() => decide(relation)}
          >
            ${t(`song.manual_${relation}`)}
          </button>
        `)}
      </div>
    </details>
  `;
}

function ChartSong({ song, busy, error, onDecide }) {
  const { chart, lead, links, platform } = song;
  const columns = [
    // two columns, so that a phone in portrait shows the reason
    {
      key: "id",
      label: t("song.music_id"),
      class: "cell-title",
      value: (row) => row.music_title ?? row.music_id,
      render: (row) => html`
        <a href=${link(["track", row.music_id])}><${Foreign} text=${row.music_title} none=${row.music_id} /></a>
        <div class="small soft">
          <${Foreign} text=${row.music_author} /> · <span class="mono">${row.music_id}</span>
        </div>
        ${row.newest_job_id && html`
          <a class="small" href=${link(["job", row.newest_job_id])}>${t("chart.result")}</a>
        `}
      `,
    },
    {
      key: "relation",
      label: t("song.link"),
      value: (row) => label("relation", row.relation),
      render: (row) => html`
        <${Badge} tone=${TONES[row.relation] ?? ""}>${label("relation", row.relation)}<//>${" "}
        <span class="small soft" style=${{ whiteSpace: "nowrap" }}>${label("confidence", row.confidence)}</span>
        <div class="small" style=${{ overflowWrap: "anywhere" }}>
          ${label("reason", row.reason)}
          ${row.via_music_id && html`${" "}<a class="soft" href=${link(["track", row.via_music_id])}>
              ${t("song.via", { id: row.via_music_id })}
            </a>`}
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
      aside=${html`<span class="small soft">${song.song_key}</span>`}
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
          rows=${links}
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
          isUtc
        />
      `}
      <p>${leadText(lead)}</p>
      <p class="small soft">
        ${t("song.observations", {
          observations: count(lead.observation_count),
          works: count(lead.work_count),
          days: count(lead.observed_day_count),
        })}
        ${
          lead.rise_before &&
          ` ${t("song.rise", {
            after: inUtc(lead.rise_after),
            before: inUtc(lead.rise_before),
          })}`
        }${" "}
        ${t("song.note")}
      </p>
    <//>
  `;
}
