// The page of a track: the platform's count of its videos over time, scans, creators, regions, variants. The service
// says everything of it in one answer.
import { PATHS, request, unlessAborted } from "../api.js";
import { count, day, Foreign, moment, visible } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { labelOf, listed, t } from "../i18n.js";
import { link } from "../router.js";
import { Bars, LineChart } from "../parts/charts.js";
import { ExportMenu, ShareButton } from "../parts/export.js";
import { LinkButton } from "../parts/link.js";
import { NotePad } from "../parts/notes.js";
import { Picture } from "../parts/media/picture.js";
import { Raw } from "../parts/raw.js";
import { openJob } from "../parts/scan_request.js";
import { PlainTable } from "../parts/table.js";
import { Badge, Card, Copy, Empty, ErrorNote, Figures, Head, Loading, notifyError } from "../parts/ui.js";
import { WatchButton } from "../parts/watch.js";
import "../messages/accounts.js";
import "../messages/figures.js";
import "../messages/page.js";
import "../messages/result.js";
import "../messages/track.js";

const KINDS = ["official", "user_made", "unknown"];
const LATEST_POINTS = 200;

export function TrackView({ id }) {
  const [state, setState] = useState({});
  const source = `${PATHS.tracks}/${encodeURIComponent(id)}`;
  useEffect(() => {
    const stopping = new AbortController();
    setState({});
    request(source, { signal: stopping.signal, isShown: true }).then(
      (envelope) => setState({ track: envelope.data }),
      unlessAborted((error) => setState({ error })),
    );
    return () => stopping.abort();
  }, [source]);
  const { track, error } = state;
  if (error?.type === "not_found") return html`<${Unknown} id=${id} />`;
  if (!track)
    return html`
      <${Head} title=${t("trackpage.title")} />
      ${error ? html`<${ErrorNote} error=${error} />` : html`<${Loading} rows=${6} tall />`}
    `;
  return html`
    <${Overview} track=${track} source=${source} />
    <${Usage} track=${track} source=${source} />
    <${Scans} scans=${track.scans} source=${source} />
    <${Creators} track=${track} />
    <div class="grid two">
      ${track.regions.length > 0 && html`<${Regions} regions=${track.regions} />`}
      ${track.variants.count > 0 && html`<${Variants} variants=${track.variants} />`}
    </div>
    <${Technical} track=${track} />
    <${Raw} />
  `;
}

function Unknown({ id }) {
  return html`
    <${Head} title=${t("trackpage.title")} lead=${html`<span class="mono">${id}</span>`} />
    <${Empty} title=${t("trackpage.unknown_track")}>${t("trackpage.unknown_track_hint")}<//>
    <div class="row"><${ScanButton} id=${id} label=${t("trackpage.scan_this")} /></div>
  `;
}

// Starts a scan that reads the platform again, and opens it.
function ScanButton({ id, label }) {
  const [busy, setBusy] = useState(false);
  const scan = async () => {
    setBusy(true);
    try {
      openJob(await request(PATHS.jobs, { method: "POST", body: { input: id, refresh: true } }));
    } catch (error) {
      notifyError(error);
      setBusy(false);
    }
  };
  return html`
    <button type="button" class="button main-act" disabled=${busy} onClick=${scan}>${label}</button>
  `;
}

function Overview({ track, source }) {
  const usage = track.usage.points.at(-1);
  const videos = track.videos.at(-1);
  return html`
    <div class="row apart">
      <span class="with-picture">
        <${Picture} kind="track" id=${track.music_id} name=${track.title} size="medium" />
        <${Head}
          title=${visible(track.title ?? track.music_id)}
          lead=${html`<${Foreign} text=${track.artist} none=${t("track.no_author")} />`}
        />
      </span>
      <div class="row no-print">
        <${ScanButton} id=${track.music_id} label=${t("trackpage.again")} />
        <${ShareButton} source=${source} label=${t("trackpage.save")} title=${t("trackpage.save_note")} />
        <${LinkButton} kind="track" id=${track.music_id} />
        <${WatchButton} kind="track" id=${track.music_id} title=${track.title} />
        <${NotePad} kind="track" id=${track.music_id} />
      </div>
    </div>
    <${Figures}
      items=${[
        [
          t("usage.count"),
          count(usage?.use_count),
          usage && listed([t("usage.shown", { time: day(usage.use_count_observed_at) }), ...roundedOf(usage)]),
        ],
        usage?.previous_date && [
          t("usage.gained"),
          signed(usage.uses_gained),
          t("usage.gained_since", { day: day(usage.previous_date) }),
        ],
        [t("usage.confirmed"), count(videos?.confirmed_video_count)],
        [t("fig.accounts"), count(track.account_count), t("trackpage.accounts_note")],
        track.uncounted_music_id_count + countedOf(track) > 1 && [
          t("usage.total"),
          count(track.use_count),
          track.uncounted_music_id_count > 0 && t("usage.lacks", { number: track.uncounted_music_id_count }),
        ],
        [t("fig.variants"), count(track.variants.count)],
      ]}
    />
  `;
}

const countedOf = (track) => KINDS.reduce((sum, kind) => sum + track.music_ids[kind].counted_music_id_count, 0);
const signed = (value) => (value > 0 ? `+${count(value)}` : count(value));
const roundedOf = (point) =>
  point.use_count_step ? [t("usage.rounded", { step: count(point.use_count_step) })] : [];

// The platform's count above ours. Their sizes differ too much for one axis of values; the axis of time is the same.
function Usage({ track, source }) {
  const { points } = track.usage;
  const days = [...points, ...track.videos].map((point) => Date.parse(point.day));
  const span = days.length ? [Math.min(...days), Math.max(...days)] : [];
  return html`
    <${Card}
      title=${t("usage.curve")}
      aside=${points.length > 0 && html`<${ExportMenu} source=${source} table="track_usage" />`}
    >
      ${points.length ? html`
        <p class="small soft">${t("usage.note")}</p>
        ${points.some((point) => point.range) && html`<p class="small soft">${t("usage.rounded_note")}</p>`}
        <${LineChart}
          label=${t("usage.count")}
          unit=${t("usage.count")}
          series=${[
            {
              key: "use",
              name: t("usage.count"),
              points: points.map((point) => [point.day, point.use_count, point.range]),
            },
          ]}
          span=${span}
          hasHint=${false}
          isUtc
        />
      ` : html`<p class="soft">${t("usage.never")}</p>`}
      ${track.videos.length > 0 && html`
        <h3>${t("usage.ours")}</h3>
        <p class="small soft">${t("usage.ours_note")}</p>
        <${LineChart}
          label=${t("usage.ours")}
          series=${["observed", "confirmed"].map((name) => ({
            key: name,
            name: t(`usage.${name}`),
            points: track.videos.map((point) => [point.day, point[`${name}_video_count`]]),
          }))}
          span=${span}
          height=${180}
          isFromZero
          isUtc
        />
      `}
      ${points.length > 0 && html`<${UsageTable} points=${points} />`}
    <//>
  `;
}

function UsageTable({ points }) {
  return html`
    <details class="fold">
      <summary>${t("usage.table")}</summary>
      <${PlainTable}
        rows=${points.slice(-LATEST_POINTS).reverse()}
        keyOf=${(row) => row.day}
        caption=${t("usage.table")}
        columns=${[
          {
            key: "at",
            label: t("col.observed"),
            class: "nowrap",
            value: (row) => row.use_count_observed_at,
            render: (row) => moment(row.use_count_observed_at),
          },
          {
            key: "count",
            label: t("usage.count"),
            num: true,
            value: (row) => row.use_count,
            render: (row) => html`
              ${count(row.use_count)} ${roundedOf(row).map((text) => html`<span class="tiny soft">${text}</span>`)}
            `,
          },
          {
            key: "gained",
            label: t("usage.gained"),
            num: true,
            value: (row) => row.uses_gained,
            render: (row) => signed(row.uses_gained),
          },
        ]}
      />
    </details>
  `;
}

// What changed from one scan to the next, as the counts that are not 0.
function changeOf(scan) {
  if (scan.previous_job_id === null) return t("trackpage.first_scan");
  const parts = [
    ["changed_new", scan.new_video_count],
    ["changed_gone", scan.gone_video_count],
    ["changed_ids", scan.new_music_id_count],
    ["changed_risen", scan.risen_video_count],
    ["changed_fallen", scan.fallen_video_count],
  ];
  const changes = parts.filter(([, number]) => number > 0);
  if (!changes.length) return t("trackpage.changed_nothing");
  return listed(changes.map(([name, number]) => t(`trackpage.${name}`, { number })));
}

function Scans({ scans, source }) {
  return html`
    <${Card}
      title=${t("trackpage.scans")}
      aside=${scans.length > 0 && html`<${ExportMenu} source=${source} table="track_scans" />`}
    >
      ${scans.length ? html`
        <${PlainTable}
          rows=${scans}
          keyOf=${(row) => row.job_id}
          caption=${t("trackpage.scans")}
          columns=${[
            {
              key: "at",
              label: t("trackpage.scan"),
              class: "nowrap",
              value: (row) => row.concluded_at,
              render: (row) =>
                row.has_result ? html`
                  <a href=${link(["job", row.job_id])}>${moment(row.concluded_at)}</a>
                ` : html`
                  ${moment(row.concluded_at)} <span class="tiny soft">${t("trackpage.result_deleted")}</span>
                `,
            },
            { key: "change", label: t("trackpage.change"), class: "cell-words", value: changeOf },
            { key: "videos", label: t("usage.confirmed"), num: true, value: (row) => row.confirmed_video_count },
            { key: "likes", label: t("stat.digg_count"), num: true, value: (row) => row.digg_count },
            { key: "ids", label: t("usage.by_music_id"), num: true, value: (row) => row.music_id_count },
          ]}
        />
      ` : html`<p class="soft">${t("trackpage.scans_none")}</p>`}
    <//>
  `;
}

function Creators({ track }) {
  const account = {
    key: "account",
    label: t("col.account"),
    class: "cell-name",
    value: (row) => row.nickname ?? row.sec_uid,
    render: (row) => html`
      <span class="with-picture">
        <${Picture} kind="account" id=${row.sec_uid} name=${row.nickname} />
        <a href=${link(["profile"], { id: row.sec_uid })}>
          <${Foreign} text=${row.nickname} none=${row.sec_uid.slice(0, 18)} />
        </a>
      </span>
    `,
  };
  const followers = {
    key: "followers",
    label: t("stat.follower_count"),
    num: true,
    value: (row) => row.follower_count,
  };
  const likes = { key: "likes", label: t("stat.digg_count"), num: true, value: (row) => row.digg_count };
  const first = {
    key: "first",
    label: t("trackpage.first_video_at"),
    class: "nowrap",
    value: (row) => row.first_created_at,
    render: (row) =>
      row.first_aweme_id ? html`
        <a href=${link(["time", "video", row.first_aweme_id])}>${day(row.first_created_at)}</a>
      ` : day(row.first_created_at),
  };
  const lists = [
    ["first", track.first_creators, [account, first, likes]],
    ["biggest", track.biggest_creators, [account, followers, likes]],
  ];
  return html`
    <div class="grid two">
      ${lists.map(([name, rows, columns]) => html`
        <${Card} key=${name} title=${t(`trackpage.${name}`)}>
          ${rows.length ? html`
            <${PlainTable}
              rows=${rows}
              keyOf=${(row) => row.sec_uid}
              caption=${t(`trackpage.${name}`)}
              columns=${columns}
            />
          ` : html`<p class="soft">${t("trackpage.creators_none")}</p>`}
        <//>
      `)}
    </div>
  `;
}

function Regions({ regions }) {
  return html`
    <${Card} title=${t("trackpage.regions")}>
      <p class="small soft">${t("trackpage.regions_note")}</p>
      <${Bars}
        label=${t("trackpage.regions")}
        items=${regions.map((region) => ({
          key: region.ip_location ?? "",
          name: region.ip_location === null
            ? html`<span class="soft">${t("trackpage.unknown")}</span>`
            : html`<${Foreign} text=${region.ip_location} />`,
          value: region.account_count,
          color: region.ip_location === null ? "var(--edge)" : undefined,
        }))}
      />
    <//>
  `;
}

function Variants({ variants }) {
  return html`
    <${Card} title=${t("tab.variants")}>
      <${Bars}
        label=${t("tab.variants")}
        items=${Object.entries(variants.by_kind).map(([kind, number]) => ({
          key: kind,
          name: labelOf("variant", kind),
          value: number,
        }))}
      />
      <h3>${t("trackpage.variants_most")}</h3>
      <${PlainTable}
        rows=${variants.videos}
        keyOf=${(row) => row.aweme_id}
        caption=${t("trackpage.variants_most")}
        columns=${[
          {
            key: "video",
            label: t("col.video"),
            class: "cell-name",
            value: (row) => row.desc,
            render: (row) => html`
              <a href=${link(["time", "video", row.aweme_id])}>
                <span class="two-lines"><${Foreign} text=${row.desc} none=${row.aweme_id} /></span>
              </a>
            `,
          },
          {
            key: "kind",
            label: t("col.kind"),
            value: (row) => labelOf("variant", row.kind),
            render: (row) => html`<${Badge} tone="warn">${labelOf("variant", row.kind)}<//>`,
          },
          { key: "likes", label: t("stat.digg_count"), num: true, value: (row) => row.digg_count },
        ]}
      />
    <//>
  `;
}

function Technical({ track }) {
  const rows = KINDS.flatMap((kind) => track.music_ids[kind].music_ids.map((row) => ({ ...row, kind })));
  return html`
    <details class="fold card">
      <summary>${t("trackpage.technical")}</summary>
      <div class="stack">
        <div class="row small">
          <span class="mono">${track.music_id}</span><${Copy} text=${track.music_id} />
          <a href=${link(["time", "track", track.music_id])}>${t("track.over_time")}</a>
          <a href=${link(["compare"], { ids: track.music_id })}>${t("track.compare")}</a>
        </div>
        <${PlainTable}
          rows=${rows}
          keyOf=${(row) => row.music_id}
          caption=${t("usage.by_music_id")}
          columns=${[
            {
              key: "id",
              label: t("usage.by_music_id"),
              value: (row) => row.title ?? row.music_id,
              render: (row) => html`
                <a class="mono" href=${link(["track", row.music_id])}>${row.music_id}</a>
                <div class="tiny soft"><${Foreign} text=${row.title} none="" /></div>
              `,
            },
            { key: "kind", label: t("trackpage.kind"), class: "nowrap", value: (row) => t(`trackpage.${row.kind}`) },
            { key: "use", label: t("usage.count"), num: true, value: (row) => row.use_count },
            { key: "videos", label: t("usage.confirmed"), num: true, value: (row) => row.confirmed_video_count },
          ]}
        />
        <ul class="plain small">
          ${KINDS.filter((kind) => track.music_ids[kind].music_id_count).map((kind) => {
            const group = track.music_ids[kind];
            const missing = group.music_id_count - group.counted_music_id_count;
            return html`
              <li key=${kind}>
                ${t(`trackpage.${kind}`)} · ${t("usage.count")} <b>${count(group.use_count)}</b>
                ${missing > 0 && html` · <span class="soft">${t("usage.lacks", { number: missing })}</span>`}
              </li>
            `;
          })}
        </ul>
      </div>
    </details>
  `;
}
