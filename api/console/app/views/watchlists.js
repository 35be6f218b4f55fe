// Watchlists: what is watched, when and what for, their runs and the newest digest, and the channels for alerts.
import { PATHS, request } from "../api.js";
import { count, Foreign, moment, partsOf } from "../format.js";
import { html, useState } from "../html.js";
import { labelOf, listed, named, t } from "../i18n.js";
import { go, link } from "../router.js";
import { lang, notify } from "../state.js";
import { useDocument } from "../parts/reads.js";
import { PlainTable } from "../parts/table.js";
import {
  mayChange,
  mayRun,
  NameField,
  placeOf,
  ScheduleField,
  scheduleText,
  ThresholdFields,
  thresholdTexts,
  useWatchlists,
} from "../parts/watch.js";
import {
  Badge,
  Card,
  Empty,
  ErrorNote,
  Head,
  Loading,
  notifyError,
  SelectField,
  TextField,
  useId,
} from "../parts/ui.js";
import "../messages/page.js";
import "../messages/result.js";
import "../messages/watchlists.js";

const TONES = { completed: "good", failed: "bad", due: "info", waiting: "accent" };
const MOST_RUNS = 10;

export function WatchlistsView({ query }) {
  const { lists, error, read } = useWatchlists();
  const [isNew, setNew] = useState(false);
  const change = (place, options, message) =>
    request(place, options).then(() => {
      notify(t(message));
      return read();
    }, notifyError);
  const acts = {
    run: (name) => change(`${placeOf(name)}/runs`, { method: "POST" }, "watchlist.started"),
    turn: (row) =>
      change(
        placeOf(row.name),
        { method: "PATCH", body: { enabled: !row.enabled } },
        row.enabled ? "watchlist.is_paused" : "watchlist.is_resumed",
      ),
    remove: (name) => change(placeOf(name), { method: "DELETE" }, "watchlist.removed"),
  };
  const open = (name) => go(["watchlists"], { list: name });
  const saved = (name) => {
    setNew(false);
    notify(t("watchlist.saved"));
    open(name);
    return read();
  };
  const chosen = lists?.find((list) => list.name === query.list);
  return html`
    <${Head} title=${t("watchlist.title")} lead=${t("watchlist.lead")}>
      ${mayChange() && html`
        <button type="button" class="button main-act" onClick=${() => setNew(!isNew)} aria-expanded=${String(isNew)}>
          ${t("watchlist.new")}
        </button>
      `}
    <//>
    ${isNew && html`<${Card} title=${t("watchlist.new")}><${WatchlistForm} onSaved=${saved} /><//>`}
    <${Card}>
      <${ErrorNote} error=${error} />
      ${!lists && !error && html`<${Loading} rows=${5} />`}
      ${lists?.length === 0 && html`
        <${Empty} title=${t("watchlist.empty")} icon="clock">${t("watchlist.empty_hint")}<//>
      `}
      ${lists?.length > 0 && html`<${Lists} lists=${lists} chosen=${query.list} onOpen=${open} onRun=${acts.run} />`}
    <//>
    ${chosen && html`
      <${WatchlistCard}
        key=${chosen.name}
        list=${chosen}
        onSaved=${saved}
        onTurn=${() => acts.turn(chosen)}
        onRemove=${() => acts.remove(chosen.name)}
      />
    `}
    ${mayChange() && html`<${Channels} />`}
  `;
}

function Lists({ lists, chosen, onOpen, onRun }) {
  return html`
    <${PlainTable}
      rows=${lists}
      keyOf=${(row) => row.name}
      caption=${t("watchlist.title")}
      columns=${[
        {
          key: "name",
          label: t("watchlist.name"),
          class: "nowrap",
          value: (row) => row.name,
          render: (row) => html`
            <button
              type="button"
              class="button little"
              aria-expanded=${String(row.name === chosen)}
              onClick=${() => onOpen(row.name === chosen ? null : row.name)}
            >
              <${Foreign} text=${row.name} />
            </button>
          `,
        },
        {
          key: "entries",
          label: t("watchlist.entries"),
          class: "cell-title",
          value: ({ entries: [first] }) => first?.title ?? first?.input,
          render: entriesText,
        },
        { key: "every", label: t("watchlist.every"), value: (row) => scheduleText(row.every) },
        {
          key: "next",
          label: t("watchlist.next"),
          class: "nowrap",
          value: (row) => (row.enabled ? row.next_due_at : null),
          render: (row) => (row.enabled ? moment(row.next_due_at) : t("watchlist.paused")),
        },
        {
          key: "last",
          label: t("watchlist.last"),
          value: (row) => row.last_run?.due_at,
          render: (row) => (row.last_run ? html`<${RunState} run=${row.last_run} />` : "—"),
        },
        ...(mayRun()
          ? [
              {
                key: "run",
                label: t("col.more"),
                render: (row) => html`
                  <button type="button" class="button little" onClick=${() => onRun(row.name)}>
                    ${t("watchlist.run")}
                  </button>
                `,
              },
            ]
          : []),
      ]}
    />
  `;
}

// The first entry by its title, and how many more there are.
function entriesText({ entries }) {
  const [first] = entries;
  if (!first) return "—";
  const more = entries.length - 1;
  return html`
    <${Foreign} text=${first.title ?? first.input} />
    ${more > 0 && html`${" "}<span class="soft nowrap">${t("watchlist.more", { number: count(more) })}</span>`}
  `;
}

function RunState({ run }) {
  return html`
    <span class="row">
      <${Badge} tone=${TONES[run.status] ?? ""}>${t(`watchlist.status.${run.status}`)}<//>
      ${run.change_count !== null && html`
        <span class="small soft">${t("watchlist.changes", { number: count(run.change_count) })}</span>
      `}
    </span>
  `;
}

// The page of what an entry led to, if there is one.
function placeOfEntry({ kind, subject }) {
  if (!subject) return null;
  return {
    track: link(["track", subject]),
    account: link(["profile"], { id: subject }),
    hashtag: link(["hashtag", subject]),
  }[kind];
}

// The title of an entry, or what was entered, with its page.
function EntryName({ entry }) {
  const place = placeOfEntry(entry);
  const name = html`<${Foreign} text=${entry.title ?? entry.input} />`;
  return place ? html`<a href=${place}>${name}</a>` : name;
}

function WatchlistCard({ list, onSaved, onTurn, onRemove }) {
  const [isSure, setSure] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const reports = thresholdTexts(list.thresholds);
  const run = list.last_run;
  return html`
    <${Card}
      title=${html`<${Foreign} text=${list.name} />`}
      aside=${mayChange() && html`
        <span class="row">
          <button
            type="button"
            class="button little"
            aria-expanded=${String(isChanging)}
            onClick=${() => setChanging(!isChanging)}
          >
            ${t("watchlist.change")}
          </button>
          <button type="button" class="button little" onClick=${onTurn}>
            ${t(list.enabled ? "watchlist.pause" : "watchlist.resume")}
          </button>
          <button type="button" class="button little" onClick=${() => (isSure ? onRemove() : setSure(true))}>
            ${t(isSure ? "watchlist.remove_sure" : "watchlist.remove")}
          </button>
        </span>
      `}
    >
      ${isChanging && html`
        <${WatchlistForm}
          list=${list}
          onSaved=${(name) => {
            setChanging(false);
            return onSaved(name);
          }}
        />
      `}
      <ul class="list small">
        ${list.entries.map((entry) => html`
          <li key=${`${entry.kind}${entry.input}`}>
            <span class="soft">${t(`watchlist.kind.${entry.kind}`)}</span> <${EntryName} entry=${entry} />
          </li>
        `)}
      </ul>
      <p class="small soft">
        ${named(t("watchlist.every"), scheduleText(list.every))} ·${" "}
        ${named(t("watch.report"), reports.length ? listed(reports) : t("watch.report_nothing"))}
      </p>
      <${Digest} key=${`${run?.run_id}${run?.status}`} place=${placeOf(list.name)} />
      <${Runs} key=${`runs ${run?.run_id}${run?.status}`} place=${placeOf(list.name)} />
    <//>
  `;
}

function Runs({ place }) {
  const { data, error } = useDocument(`${place}/runs?limit=${MOST_RUNS}`);
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!data?.runs.length) return null;
  return html`
    <h3>${t("watchlist.runs")}</h3>
    <${PlainTable}
      rows=${data.runs}
      keyOf=${(row) => row.run_id}
      caption=${t("watchlist.runs")}
      columns=${[
        {
          key: "due",
          label: t("watchlist.due_at"),
          class: "nowrap",
          value: (row) => row.due_at,
          render: (row) => moment(row.due_at),
        },
        {
          key: "state",
          label: t("watchlist.status"),
          value: (row) => t(`watchlist.status.${row.status}`),
          render: (row) => html`<${RunState} run=${row} />`,
        },
        ...(data.runs.some((run) => run.alerts.length)
          ? [
              {
                key: "alerts",
                label: t("alert.alerts"),
                value: (row) => row.alerts[0] && t(`alert.status.${row.alerts[0].status}`),
                render: (row) => html`<${Deliveries} run=${row} />`,
              },
            ]
          : []),
      ]}
    />
  `;
}

const DELIVERY_TONES = { sent: "good", failed: "bad", waiting: "accent" };

// The messages about a run: the last attempt of each, and when the next one follows.
function Deliveries({ run }) {
  return run.alerts.map((delivery) => {
    const last = delivery.attempts.at(-1);
    return html`
      <div key=${delivery.channel} class="row small">
        <${Badge} tone=${DELIVERY_TONES[delivery.status]}>${t(`alert.status.${delivery.status}`)}<//>
        <${Foreign} text=${delivery.channel} />
        ${last && html`<span class="soft"><${Attempt} attempt=${last} /></span>`}
        ${delivery.next_at && html`<span class="soft">${t("alert.next", { when: moment(delivery.next_at) })}</span>`}
        ${delivery.attempts.length > 1 && html`
          <span class="soft">${t("alert.attempts", { number: count(delivery.attempts.length) })}</span>
        `}
      </div>
    `;
  });
}

function Attempt({ attempt }) {
  const outcome = t(`alert.outcome.${attempt.outcome}`);
  return `${attempt.status === null ? outcome : `${outcome} (HTTP ${attempt.status})`} · ${moment(attempt.at)}`;
}

// Channels for alerts, for operators alone.
function Channels() {
  const [round, setRound] = useState(0);
  return html`<${ChannelCard} key=${round} onChanged=${() => setRound(round + 1)} />`;
}

function ChannelCard({ onChanged }) {
  const { data, error } = useDocument(PATHS.alertChannels);
  const [busy, setBusy] = useState(null);
  const act = (name, place, method, message) => {
    setBusy(name);
    request(place, { method })
      .then(({ data: channel }) => notify(message(channel)), notifyError)
      .then(onChanged);
  };
  const placeOfChannel = (name) => `${PATHS.alertChannels}/${encodeURIComponent(name)}`;
  const test = (name) =>
    act(name, `${placeOfChannel(name)}/test`, "POST", (channel) => t(`alert.outcome.${channel.test.outcome}`));
  const remove = (name) => act(name, placeOfChannel(name), "DELETE", () => t("alert.removed"));
  return html`
    <${Card} title=${t("alert.title")}>
      <p class="small soft">${t("alert.lead")}</p>
      <${ErrorNote} error=${error} />
      ${!data && !error && html`<${Loading} rows=${2} />`}
      ${data?.channels.length > 0 && html`
        <${PlainTable}
          rows=${data.channels}
          keyOf=${(row) => row.name}
          caption=${t("alert.title")}
          columns=${[
            { key: "name", label: t("watchlist.name"), value: (row) => row.name },
            { key: "service", label: t("alert.service"), value: (row) => row.service },
            { key: "language", label: t("alert.language"), value: (row) => t(`alert.language.${row.language}`) },
            {
              key: "test",
              label: t("alert.tested"),
              value: (row) => row.test?.at,
              render: (row) => (row.test ? html`<${Attempt} attempt=${row.test} />` : t("alert.untested")),
            },
            {
              key: "acts",
              label: t("col.more"),
              render: (row) => html`
                <span class="row">
                  <button
                    type="button"
                    class="button little"
                    disabled=${busy === row.name}
                    onClick=${() => test(row.name)}
                  >
                    ${t(busy === row.name ? "alert.testing" : "alert.test")}
                  </button>
                  <button type="button" class="button little" onClick=${() => remove(row.name)}>
                    ${t("watchlist.remove")}
                  </button>
                </span>
              `,
            },
          ]}
        />
      `}
      <${ChannelForm} onSaved=${onChanged} />
    <//>
  `;
}

function ChannelForm({ onSaved }) {
  const [fields, setFields] = useState({ name: "", url: "", language: lang.value });
  const [state, setState] = useState({});
  const setField = (name) => (value) => setFields({ ...fields, [name]: value });
  const save = (event) => {
    event.preventDefault();
    setState({ busy: true });
    request(PATHS.alertChannels, { method: "POST", body: fields }).then(
      () => {
        notify(t("alert.saved"));
        onSaved();
      },
      (error) => setState({ error }),
    );
  };
  return html`
    <form class="stack" onSubmit=${save}>
      <h3>${t("alert.new")}</h3>
      <div class="grid">
        <${NameField} label=${t("alert.name")} value=${fields.name} onInput=${setField("name")} />
        <${TextField}
          type="password"
          label=${t("alert.url")}
          value=${fields.url}
          onInput=${setField("url")}
          hint=${t("alert.url_hint")}
          required
        />
        <${SelectField}
          label=${t("alert.language")}
          value=${fields.language}
          onChange=${setField("language")}
          options=${["en", "zh"].map((name) => [name, t(`alert.language.${name}`)])}
        />
      </div>
      <${ErrorNote} error=${state.error} />
      <div class="row">
        <button type="submit" class="button" disabled=${state.busy}>${t("alert.save")}</button>
      </div>
    </form>
  `;
}

const KINDS = ["track", "account", "hashtag"];

// Name, schedule, entries (one per line) and thresholds of a new watchlist, or of `list`.
function WatchlistForm({ list, onSaved }) {
  const [name, setName] = useState("");
  const [every, setEvery] = useState(list?.every ?? "daily at 00:00");
  const [kind, setKind] = useState("track");
  const [inputs, setInputs] = useState("");
  const [thresholds, setThresholds] = useState({}); // only those that were changed: the service has the others
  const [state, setState] = useState({});
  const id = useId("w");
  const save = (event) => {
    event.preventDefault();
    setState({ busy: true });
    const stored = (list?.entries ?? []).map((entry) => ({ kind: entry.kind, input: entry.input }));
    const entries = [...stored, ...partsOf(inputs, "\n").map((input) => ({ kind, input }))];
    const [place, method] = list ? [placeOf(list.name), "PATCH"] : [PATHS.watchlists, "POST"];
    const body = { ...(list ? {} : { name }), every, entries, thresholds };
    request(place, { method, body }).then(
      ({ data }) => onSaved(data.name),
      (error) => setState({ error }),
    );
  };
  const kinds = new Set([kind, ...(list?.entries ?? []).map((entry) => entry.kind)]);
  return html`
    <form class="stack" onSubmit=${save}>
      <div class="grid">
        ${!list && html`
          <${NameField} label=${t("watchlist.name")} value=${name} onInput=${setName} />
        `}
        <${ScheduleField} value=${every} onChange=${setEvery} />
        <${SelectField}
          label=${t("watchlist.kind")}
          value=${kind}
          onChange=${setKind}
          options=${KINDS.map((option) => [option, t(`watchlist.kind.${option}`)])}
        />
      </div>
      <div class="field">
        <label for=${id}>${t(list ? "watchlist.more_inputs" : "watchlist.inputs")}</label>
        <textarea
          id=${id}
          rows="3"
          value=${inputs}
          onInput=${(event) => setInputs(event.currentTarget.value)}
          required=${!list}
        ></textarea>
      </div>
      <${ThresholdFields}
        kinds=${[...kinds]}
        stored=${list?.thresholds}
        changed=${thresholds}
        onChange=${setThresholds}
      />
      <${ErrorNote} error=${state.error} />
      <div class="row">
        <button type="submit" class="button main-act" disabled=${state.busy}>${t("watchlist.save")}</button>
      </div>
    </form>
  `;
}

// Title, id with its page, and note of a change, by its kind.
const videoOf = ({ aweme_id: id }) => [id, link(["time", "video", id])];
const trackOf = ({ music_id: id }) => [id, link(["track", id])];
const CHANGES = {
  usage_growth: (growth) => [
    null,
    trackOf(growth),
    t("digest.usage", {
      before: count(growth.before),
      after: count(growth.after),
      percent: count(Math.round(growth.percent_per_day)),
    }),
  ],
  reached_likes: (video) => [video.title, videoOf(video), t("digest.likes", { number: count(video.after) })],
  new_creators: (creator) => [
    creator.nickname,
    [creator.sec_uid, link(["profile"], { id: creator.sec_uid })],
    t("digest.followers", { number: count(creator.follower_count) }),
  ],
  disappeared_works: (video) => [video.title, videoOf(video), video.reason],
  fast_works: (video) => [
    video.title,
    videoOf(video),
    t("digest.per_day", { number: count(Math.round(video.velocity)) }),
  ],
  rank_changes: (video) => [video.title, videoOf(video), `${count(video.before)} → ${count(video.after)}`],
  new_music_ids: (music) => [null, trackOf(music), t("digest.works", { number: count(music.work_count) })],
  new_works: (video) => [video.title, videoOf(video), video.rank ? `#${count(video.rank)}` : ""],
  vanished_works: (video) => [video.title, videoOf(video), video.reason ?? t("digest.not_shown")],
};

// The newest digest: changes by entry and kind, with their numbers.
function Digest({ place }) {
  const { data, error } = useDocument(`${place}/digests?limit=1`);
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!data) return html`<${Loading} rows=${2} />`;
  const [digest] = data.digests;
  if (!digest) return html`<p class="small soft">${t("digest.none")}</p>`;
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
  const kinds = changes ? Object.keys(CHANGES).filter((kind) => changes[kind]?.length) : []; // older digests lack some
  const figures = changes?.figures.map((figure) => named(labelOf("figure", figure.name), figureText(figure))) ?? [];
  return html`
    <div class="small">
      <b>${t(`watchlist.kind.${entry.kind}`)} <${EntryName} entry=${entry} /></b>
      ${entry.error && html`${" "}<${Badge} tone="bad">${labelOf("stop", entry.error.type)}<//>`}
      ${figures.length > 0 && html`<div class="soft">${figures.join(" · ")}</div>`}
      ${changes && !kinds.length && html`
        ${" "}<span class="soft">${t(changes.since ? "digest.nothing" : "digest.first")}</span>
      `}
      ${kinds.map((kind) => html`
        <div key=${kind}>
          ${t(`digest.${kind}`)}
          <ul class="list">
            ${changes[kind].map(CHANGES[kind]).map(([title, [id, page], note]) => html`
              <li key=${id}>
                ${title && html`<${Foreign} text=${title} />${" "}`}
                <a class="mono tiny" href=${page}>${id}</a> <span class="soft">${note}</span>
              </li>
            `)}
          </ul>
        </div>
      `)}
    </div>
  `;
}
