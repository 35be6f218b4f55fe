// Watching a track, an account or a hashtag: the stored watchlists, the button, schedules and thresholds in words.
import { PATHS, request, unlessAborted } from "../api.js";
import { count, Foreign, visible } from "../format.js";
import { Fragment, html, signal, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { limitsOf } from "../limits.js";
import { link } from "../router.js";
import { lang, notify, session } from "../state.js";
import { ErrorNote, Icon, SelectField, TextField, useId } from "./ui.js";
import "../messages/page.js";
import "../messages/watchlists.js";

const LIVE_MS = 5000; // while a run is due or goes on
const QUIET_MS = 60_000; // until a run becomes due

export const watchlists = signal(null); // as read last, by any view or button
export const placeOf = (name) => `${PATHS.watchlists}/${encodeURIComponent(name)}`;
// The service decides; a button that it would refuse is not shown.
export const mayChange = () => !session.value.required || session.value.role === "operate";
export const mayRun = () => mayChange() || session.value.role === "scan";

export async function readWatchlists(signal) {
  watchlists.value = (await request(PATHS.watchlists, { signal })).data.watchlists;
}

// All buttons of a page share a read.
let pending = null;
function readOnce() {
  pending ??= readWatchlists().finally(() => {
    pending = null;
  });
  return pending;
}

// The stored watchlists as {lists, error, read}, read again while one of them runs.
export function useWatchlists() {
  const [error, setError] = useState(null);
  const lists = watchlists.value;
  const isLive = Boolean(lists?.some(({ last_run: run }) => run && !run.ended_at));
  const read = (signal) => readWatchlists(signal).then(() => setError(null), unlessAborted(setError));
  useEffect(() => {
    const stopping = new AbortController();
    read(stopping.signal);
    const timer = setInterval(() => read(stopping.signal), isLive ? LIVE_MS : QUIET_MS);
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [isLive]);
  return { lists, error, read };
}

const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const TIMED = ["daily", "weekdays", "weekly"];
const CHOICES = [...TIMED, "hourly", "every 6 hours", "own"];
const PHRASE = new RegExp(
  `^(?:(daily|weekdays|weekly)|(?:weekly on|every) (${DAYS.join("|")}))(?: at ([0-9]{2}:[0-9]{2}))?$`,
);

// The parts of a schedule as the form has them; one that the form cannot make is text of the user's own.
function partsOfSchedule(every) {
  const match = PHRASE.exec(every);
  if (!match) return { choice: CHOICES.includes(every) ? every : "own", text: every };
  const [, choice = "weekly", weekday = DAYS[0], time = "00:00"] = match;
  return { choice, weekday, time, text: every };
}
function phraseOf({ choice, weekday = DAYS[0], time = "00:00", text = "" }) {
  if (choice === "own") return text;
  if (!TIMED.includes(choice)) return choice;
  return `${choice === "weekly" ? `weekly on ${weekday}` : choice} at ${time}`;
}
const wordOf = (choice) => t(`watch.${choice.replaceAll(" ", "_")}`);

// A schedule of the service in words of the chosen language.
export function scheduleText(every) {
  const { choice, weekday, time, text } = partsOfSchedule(every);
  if (choice === "own") return text;
  if (!TIMED.includes(choice)) return wordOf(choice);
  const day = choice === "weekly" ? t("watch.weekly_on", { day: t(`watch.${weekday}`) }) : wordOf(choice);
  return t("watch.at", { day, time });
}

// What a time of the day in UTC is where the reader is.
function hereOf(time) {
  const [hour, minute] = time.split(":").map(Number);
  const moment = new Date();
  moment.setUTCHours(hour, minute, 0, 0);
  return moment.toLocaleTimeString(lang.value === "zh" ? "zh-CN" : "en-GB", { hour: "2-digit", minute: "2-digit" });
}

// The name of a watchlist or of a channel, in the form that the service takes.
export function NameField({ label, value, onInput }) {
  return html`
    <${TextField}
      label=${label}
      value=${value}
      onInput=${onInput}
      pattern="[a-z0-9][a-z0-9_\\-]*"
      maxlength="64"
      hint=${t("watchlist.name_hint")}
      required
    />
  `;
}

// `value`: a schedule as the service has it.
export function ScheduleField({ value, onChange }) {
  const [parts, setParts] = useState(() => partsOfSchedule(value));
  const change = (more) => {
    const next = { ...parts, ...more };
    setParts(next);
    onChange(phraseOf(next));
  };
  const { choice, weekday = DAYS[0], time = "00:00", text = "" } = parts;
  return html`
    <${Fragment}>
      <${SelectField}
        label=${t("watchlist.every")}
        value=${choice}
        onChange=${(next) => change({ choice: next })}
        options=${CHOICES.map((name) => [name, wordOf(name)])}
      />
      ${choice === "weekly" && html`
        <${SelectField}
          label=${t("watch.weekday")}
          value=${weekday}
          onChange=${(next) => change({ weekday: next })}
          options=${DAYS.map((name) => [name, t(`watch.${name}`)])}
        />
      `}
      ${TIMED.includes(choice) && html`
        <${TextField}
          type="time"
          label=${t("watch.time")}
          value=${time}
          onInput=${(next) => change({ time: next })}
          hint=${time && t("watch.time_hint", { utc: time, here: hereOf(time) })}
          required
        />
      `}
      ${choice === "own" && html`
        <${TextField}
          label=${t("watch.own")}
          value=${text}
          onInput=${(next) => change({ text: next })}
          hint=${t("watchlist.every_hint")}
          required
        />
      `}
    <//>
  `;
}

// Thresholds in the order of the form, with the kinds of entries that they speak of.
const THRESHOLDS = {
  usage_growth: ["track"],
  likes: ["track", "account", "hashtag"],
  creator_followers: ["track"],
  disappeared: ["track"],
  velocity: ["track", "account", "hashtag"],
  rank_change: ["track", "hashtag"],
  new_music_id: ["track"],
};
const isOn = (value) => value !== null && value !== false && value !== undefined;

// The thresholds that are on, each as a sentence.
export function thresholdTexts(thresholds) {
  return Object.keys(THRESHOLDS)
    .filter((name) => isOn(thresholds[name]))
    .map((name) => t(`threshold.${name}`, { number: count(thresholds[name]) }));
}

// One sentence per threshold: a check box says whether it counts, a number in the sentence from when on.
// `changed` has those that the user touched; the others are `stored`, or the defaults of the service.
export function ThresholdFields({ kinds, stored, changed, onChange }) {
  const names = Object.keys(THRESHOLDS).filter((name) => THRESHOLDS[name].some((kind) => kinds.includes(kind)));
  return html`
    <fieldset class="plain stack tight">
      <legend class="label">${t("watch.report")}</legend>
      ${names.map((name) => {
        const usual = stored?.[name] ?? limitsOf(name)?.default;
        const value = name in changed ? changed[name] : stored ? stored[name] : usual;
        const turn = (next) => onChange({ ...changed, [name]: next });
        return html`<${Threshold} key=${name} name=${name} value=${value} usual=${usual} onChange=${turn} />`;
      })}
    </fieldset>
  `;
}

function Threshold({ name, value, usual, onChange }) {
  const id = useId("h");
  const limits = limitsOf(name);
  const isSwitch = typeof limits?.default === "boolean";
  const flip = (isChecked) => onChange(isSwitch ? isChecked : isChecked ? (usual ?? limits?.default) : null);
  const [before, after] = t(`threshold.${name}`, { number: "\n" }).split("\n");
  return html`
    <div class="check">
      <input id=${id} type="checkbox" checked=${isOn(value)} onChange=${(event) => flip(event.currentTarget.checked)} />
      ${isSwitch
        ? html`<label for=${id}>${before}</label>`
        : html`
            <span class="row tight">
              <label for=${id}>${before}</label>
              <input
                type="number"
                class="number"
                aria-label=${t(`threshold.${name}`, { number: "" })}
                value=${isOn(value) ? value : (usual ?? "")}
                min=${limits?.minimum}
                max=${limits?.maximum}
                disabled=${!isOn(value)}
                required
                onInput=${(event) => onChange(event.currentTarget.valueAsNumber)}
              />
              ${after && html`<label for=${id}>${after}</label>`}
            </span>
          `}
    </div>
  `;
}

// The watchlist with this entry, as its id or as what its link led to.
const watchlistWith = (kind, id) =>
  watchlists.value?.find((list) =>
    list.entries.some((entry) => entry.kind === kind && (entry.subject === id || entry.input === id)),
  );

// "Watch", or a link to the watchlist that watches it already. `kind`: track, account or hashtag.
export function WatchButton({ kind, id, title }) {
  return html`<${WatchSeveral} kind=${kind} subjects=${[{ id, title }]} label=${t("watch.watch")} />`;
}

// The same for several of a kind at once, `subjects`: [{id, title}]; those that are watched already stay as they are.
export function WatchSeveral({ kind, subjects, label }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    readOnce().catch(() => {}); // then the button does not know that something is watched
  }, []);
  const unwatched = subjects.filter(({ id }) => !watchlistWith(kind, id));
  if (subjects.length && !unwatched.length) {
    const list = watchlistWith(kind, subjects[0].id);
    return html`
      <a class="button little" href=${link(["watchlists"], { list: list.name })} title=${list.name}>
        <${Icon} name="clock" />
        ${t("watch.watched")}
      </a>
    `;
  }
  if (!subjects.length || !mayChange()) return null;
  return html`
    <button type="button" class="button little" onClick=${() => setOpen(true)}>
      <${Icon} name="clock" />
      ${label}
    </button>
    ${isOpen && html`
      <${WatchDialog} kind=${kind} subjects=${unwatched} label=${label} onClose=${() => setOpen(false)} />
    `}
  `;
}

// A name that the service accepts and that no watchlist has yet, after the one subject or the kind of several.
function freeName(kind, [{ id, title }, ...others]) {
  const slug = (text) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "");
  const own = slug(title ?? "").slice(0, 40) || `${kind}-${slug(id).slice(-20)}`;
  const stem = others.length ? `${kind}s` : own;
  const names = new Set(watchlists.value?.map((list) => list.name));
  let name = stem;
  for (let number = 2; names.has(name); number += 1) name = `${stem}-${number}`;
  return name;
}

const NEW = ""; // in place of the name of a stored watchlist

function WatchDialog({ kind, subjects, label, onClose }) {
  const box = useRef(null);
  const [target, setTarget] = useState(NEW);
  const [name, setName] = useState(() => freeName(kind, subjects));
  const [every, setEvery] = useState("daily at 00:00");
  const [thresholds, setThresholds] = useState({});
  const [state, setState] = useState({});
  useEffect(() => {
    box.current.showModal();
  }, []);
  const close = () => box.current.close(); // gives the focus back
  const save = (event) => {
    event.preventDefault();
    setState({ busy: true });
    const stored = watchlists.value?.find((list) => list.name === target);
    const before = (stored?.entries ?? []).map((entry) => ({ kind: entry.kind, input: entry.input }));
    const entries = [...before, ...subjects.map(({ id }) => ({ kind, input: id }))];
    const [place, method, body] = stored
      ? [placeOf(stored.name), "PATCH", { entries }]
      : [PATHS.watchlists, "POST", { name, every, entries, thresholds }];
    request(place, { method, body }).then(
      () => {
        notify(t("watch.saved"));
        close(); // before the button becomes a link, and the dialog goes with it
        readWatchlists().catch(() => {}); // then the button does not know that something is watched
      },
      (error) => setState({ error }),
    );
  };
  const names = watchlists.value?.map((list) => list.name) ?? [];
  return html`
    <dialog ref=${box} onClose=${onClose} aria-label=${t("watch.watch")}>
      <form class="stack" onSubmit=${save}>
        <h2>
          ${subjects.length > 1 ? label : html`
            ${t("watch.title")} <${Foreign} text=${subjects[0].title} none=${visible(subjects[0].id)} />
          `}
        </h2>
        ${names.length > 0 && html`
          <${SelectField}
            label=${t("watch.target")}
            value=${target}
            onChange=${setTarget}
            options=${[[NEW, t("watch.new")], ...names.map((known) => [known, known])]}
          />
        `}
        ${target === NEW && html`
          <div class="grid">
            <${NameField} label=${t("watchlist.name")} value=${name} onInput=${setName} />
            <${ScheduleField} value=${every} onChange=${setEvery} />
          </div>
          <${ThresholdFields} kinds=${[kind]} changed=${thresholds} onChange=${setThresholds} />
        `}
        <p class="small soft">${t("watch.first_hint")}</p>
        <${ErrorNote} error=${state.error} />
        <div class="row">
          <button type="submit" class="button main-act" disabled=${state.busy}>${t("watch.watch")}</button>
          <button type="button" class="button plain" onClick=${close}>${t("act.close")}</button>
        </div>
      </form>
    </dialog>
  `;
}
