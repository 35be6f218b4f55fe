// A/B player: both clips run at once and one of them is audible, so that switching changes only the
// volume and keeps the position. Both waveforms stand on the time axis of the song. It uses Web Audio because audio
// elements cannot switch that precisely, and the usual waveform library sets markup, which the page's Trusted Types
// policy forbids.
import { fetchFile } from "../../api.js";
import { decimal } from "../../format.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { ticks, useWidth } from "../charts.js";
import { CheckField, ErrorNote, Icon, Segment } from "../ui.js";
import "../../messages/evidence.js";
import "../../messages/page.js";

const FADE_S = 0.012;
const LEAST_STRETCH = 0.005; // less is inaudible over ten seconds
const ROLES = ["reference", "candidate"];
const LETTERS = ["A", "B"];
const COLUMNS = 120; // of the waveform of an excerpt

// Loudness of equal parts of some samples, in percent of the loudest, as the service has it for whole sounds.
function levelsOf(samples) {
  const wide = Math.max(1, Math.floor(samples.length / COLUMNS));
  const most = Array.from({ length: COLUMNS }, (_, column) =>
    samples.subarray(column * wide, (column + 1) * wide).reduce((top, value) => Math.max(top, Math.abs(value)), 0),
  );
  const top = Math.max(...most) || 1;
  return most.map((value) => (100 * value) / top);
}

// Both sounds at once; `select` fades to the one that is audible.
class Deck {
  constructor(sounds) {
    this.sounds = sounds;
    this.context = null;
    this.nodes = [];
    this.from = 0;
    this.startedAt = 0;
    this.undone = null; // how the change of the candidate is undone: {rate, sound}
    this.run = 0; // number of the last start or stop, so that an overtaken start adds no sound
  }

  get length() {
    return Math.max(...ROLES.map((role) => (this.sounds[role] ? this.sound(role).duration / this.rate(role) : 0)));
  }

  rate(role) {
    return role === "candidate" && this.undone ? this.undone.rate : 1;
  }

  sound(role) {
    return role === "candidate" && this.undone ? this.undone.sound : this.sounds[role];
  }

  // Returns whether the sounds play; false if another start or stop came before they could.
  async play(live, from) {
    this.stop();
    const { run } = this;
    this.context ??= new AudioContext();
    await this.context.resume();
    if (run !== this.run) return false;
    this.from = from;
    this.startedAt = this.context.currentTime;
    for (const role of ROLES) {
      if (!this.sounds[role]) continue;
      const source = this.context.createBufferSource();
      source.buffer = this.sound(role);
      source.playbackRate.value = this.rate(role);
      const gain = this.context.createGain();
      gain.gain.value = role === live ? 1 : 0;
      source.connect(gain).connect(this.context.destination);
      source.start(0, Math.min(from * this.rate(role), source.buffer.duration));
      this.nodes.push({ role, source, gain });
    }
    return true;
  }

  select(live) {
    for (const node of this.nodes)
      node.gain.gain.setTargetAtTime(node.role === live ? 1 : 0, this.context.currentTime, FADE_S);
  }

  get position() {
    return this.nodes.length ? Math.min(this.length, this.from + this.context.currentTime - this.startedAt) : this.from;
  }

  stop() {
    this.run += 1;
    for (const node of this.nodes) {
      node.source.onended = null;
      try {
        node.source.stop();
      } catch {
        // it has already ended
      }
    }
    this.nodes = [];
  }

  close() {
    this.stop();
    this.context?.close();
  }
}

// The excerpts that can be heard as {sounds, errors} by role: the service reads one that it has not stored again, as a
// guest.
async function load(compared) {
  const [sounds, errors] = [{}, {}];
  const read = async (role) => {
    try {
      const data = await (await fetchFile(compared[role].excerpt_path)).arrayBuffer();
      sounds[role] = await new OfflineAudioContext(1, 1, 44_100).decodeAudioData(data);
    } catch (error) {
      errors[role] = error;
    }
  };
  await Promise.all(ROLES.filter((role) => compared[role].excerpt_path).map(read));
  return { sounds, errors };
}

// The candidate as it sounds with its change undone, so that tempo alone leaves the pitch as it is.
function undo(sound, speed, semitones) {
  const { rate, factor } = undoing(speed, semitones);
  if (Math.abs(factor - 1) < LEAST_STRETCH) return { rate, sound };
  const samples = stretched(sound.getChannelData(0), factor, sound.sampleRate);
  const buffer = new AudioBuffer({ length: samples.length, sampleRate: sound.sampleRate });
  buffer.copyToChannel(samples, 0);
  return { rate, sound: buffer };
}

// The state of a player and what can be done with it. The sounds are loaded when a user first wants to hear them.
function usePlayback({ evidence, sounds: compared }, isSure) {
  const speed = evidence.speed ?? 1;
  const [{ deck, errors }, setLoaded] = useState({ deck: null, errors: {} });
  const [isLoading, setLoading] = useState(false);
  const [live, setLive] = useState(compared.candidate.excerpt_path ? "candidate" : "reference");
  const [isPlaying, setPlaying] = useState(false);
  const [at, setAt] = useState(0); // seconds since the start of the excerpts, as they are played
  const [isUndone, setUndone] = useState(isSure && speed !== 1);
  const undone = useMemo(
    () => deck?.sounds.candidate && speed !== 1 && undo(deck.sounds.candidate, speed, evidence.semitones),
    [deck],
  );
  if (deck) deck.undone = isUndone ? undone : null;
  const begin = (from = at >= deck.length - 0.05 ? 0 : at) => {
    deck.play(live, from).then((isStarted) => {
      if (isStarted) setPlaying(true);
    });
    setAt(from);
  };
  useEffect(() => {
    if (deck?.length) begin(0);
    return () => deck?.close();
  }, [deck]);
  useEffect(() => {
    if (!isPlaying) return undefined;
    let frame = requestAnimationFrame(function step() {
      setAt(deck.position);
      if (deck.position >= deck.length) {
        deck.stop();
        deck.from = 0;
        setPlaying(false);
        return;
      }
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, deck]);
  const loading = useRef(null); // the load that counts: not one that another press, or leaving the page, overtook
  useEffect(() => () => {
    loading.current = null;
  }, []);
  const start = async () => {
    if (loading.current) return;
    const own = {};
    loading.current = own;
    setLoading(true);
    const loaded = await load(compared);
    if (loading.current !== own) return;
    loading.current = null;
    setLoading(false);
    if (!loaded.sounds[live]) setLive(ROLES.find((role) => loaded.sounds[role]) ?? live);
    setLoaded({ deck: new Deck(loaded.sounds), errors: loaded.errors });
  };
  const pause = () => {
    deck.from = deck.position;
    deck.stop();
    setPlaying(false);
  };
  const choose = (role) => {
    setLive(role);
    deck?.select(role);
  };
  const jump = (to) => {
    const next = Math.max(0, Math.min(deck.length, to));
    if (isPlaying) begin(next);
    else {
      deck.from = next;
      setAt(next);
    }
  };
  const does = { begin, start, pause, choose, jump, setUndone };
  return { deck, errors, speed, isLoading, live, isPlaying, at, isUndone, does };
}

// X switches from anywhere on the page except text fields. A layout effect, so that it works from the first frame on.
function useSwitchKey(live, isOn, choose) {
  useLayoutEffect(() => {
    const keys = (event) => {
      const isTyping = event.target.matches?.("textarea, select, input:not([type=range], [type=checkbox])");
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (event.key.toLowerCase() === "x" && isPlain && !isTyping && isOn)
        choose(live === "reference" ? "candidate" : "reference");
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });
}

// `pair`: a comparison of the service. `names`: what both sounds are called, by role. `isSure`: speed and pitch are
// findings, not the best guess about a rejected pair; only findings are undone at first. Its key is the comparison.
export function Player({ pair, names, isSure }) {
  const { sounds: compared } = pair;
  const { deck, errors, speed, isLoading, live, isPlaying, at, isUndone, does } = usePlayback(pair, isSure);
  const audible = ROLES.filter((role) => compared[role].excerpt_path && !errors[role]);
  useSwitchKey(live, audible.length > 1, does.choose);
  const rate = (role) => (role === "candidate" && !isUndone ? speed : 1); // seconds of the song in one that is played
  const songAt = (role) => compared[role].excerpt_song_start_s + at * rate(role);
  const jumpTo = (role, second) => does.jump((second - compared[role].excerpt_song_start_s) / rate(role));
  const isReady = deck?.length > 0;
  const place = isReady && t("player.at", { second: decimal(songAt(live), 1) });
  return html`
    <div class="player">
      <div class="row">
        ${audible.length > 0 && html`
          <button
            type="button"
            class="button main-act"
            aria-busy=${String(isLoading)}
            onClick=${() => (isPlaying ? does.pause() : isReady ? does.begin() : does.start())}
          >
            <${Icon} name=${isLoading ? "turn" : isPlaying ? "pause" : "play"} spin=${isLoading} />
            ${t(isLoading ? "player.loading" : isPlaying ? "player.pause" : "player.play")}
          </button>
        `}
        ${audible.length > 1 && html`
          <${Segment}
            label=${t("player.switch")}
            options=${ROLES.map((role, number) => [role, `${LETTERS[number]} · ${t(`evidence.${role}`)}`])}
            value=${live}
            onChange=${does.choose}
          />
        `}
        ${isReady && html`<span class="small soft num">${place}</span>`}
      </div>
      <${Lanes} ...${{ pair, deck, names, live, isSure }} songAt=${isReady ? songAt : null} onJump=${jumpTo} />
      ${isReady && html`
        <label class="field">
          <span class="label">${t("player.position")}</span>
          <input
            type="range"
            min="0"
            max=${deck.length.toFixed(2)}
            step="0.1"
            value=${at}
            aria-valuetext=${place}
            onInput=${(event) => does.jump(Number(event.currentTarget.value))}
            style=${{ accentColor: "var(--accent)" }}
          />
        </label>
      `}
      ${speed !== 1 && deck?.sounds.candidate && html`
        <${CheckField}
          label=${t("player.undo", { factor: speed.toFixed(2) })}
          value=${isUndone}
          onChange=${(isOn) => {
            does.pause();
            does.setUndone(isOn);
          }}
        />
      `}
      ${ROLES.filter((role) => !deck?.sounds[role]).map((role) => html`
        <${Unheard} key=${role} role=${role} sound=${compared[role]} error=${errors[role]} />
      `)}
      ${ROLES.some((role) => errors[role]) && html`
        <div class="row">
          <button type="button" class="button little" onClick=${does.start}>${t("act.retry")}</button>
        </div>
      `}
      ${audible.length > 1 && html`<p class="small soft">${t("player.note")}</p>`}
    </div>
  `;
}

// What cannot be heard says why; what is not stored says that it is read first.
function Unheard({ role, sound, error }) {
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (sound.excerpt_state === "stored") return null;
  const text = t(`player.${sound.excerpt_state}`, { sound: t(`evidence.${role}`) });
  return html`<p class="small soft">${text}</p>`;
}

const LANE_PX = 64;

// Both sounds on one axis of seconds of the song. `songAt(role)`: the second that is played; null before anything is.
function Lanes({ pair, deck, names, live, isSure, songAt, onJump }) {
  const [place, width] = useWidth();
  const { evidence, sounds: compared } = pair;
  const waveOf = (role) => compared[role].waveform ?? excerptWave(deck?.sounds[role], compared[role], role, evidence);
  const waves = useMemo(() => Object.fromEntries(ROLES.map((role) => [role, waveOf(role)])), [pair, deck]);
  const drawn = Object.values(waves).filter(Boolean);
  const from = Math.min(...drawn.map((wave) => wave.start_s));
  const to = Math.max(...drawn.map((wave) => wave.start_s + wave.duration_s));
  const x = (second) => ((second - from) / (to - from)) * width;
  const { reference_start_s: start, overlap_s: overlap } = evidence;
  const part = start === null || overlap === null ? null : { from: start, to: start + overlap };
  return html`
    <div class="stack tight" ref=${place}>
      ${ROLES.map((role, number) => html`
        <div class="lane" key=${role} data-live=${String(role === live)}>
          <div class="row">
            <span class="label small">${LETTERS[number]} · ${t(`evidence.${role}`)}</span>
            ${names[role]}
          </div>
          ${waves[role] && html`
            <${Wave}
              ...${{ wave: waves[role], part, x, width, isSure }}
              second=${songAt?.(role)}
              onPress=${songAt && ((share) => onJump(role, from + share * (to - from)))}
            />
          `}
        </div>
      `)}
      ${drawn.length > 0 && html`
        <svg class="chart" viewBox=${`0 0 ${width} 18`} aria-hidden="true">
          ${ticks(Math.max(0, from), to, Math.max(2, width / 90)).map((second) => html`
            <text
              key=${second}
              x=${x(second)}
              y="13"
              text-anchor=${x(second) < 20 ? "start" : x(second) > width - 20 ? "end" : "middle"}
            >
              ${t("player.second", { second })}
            </text>
          `)}
        </svg>
      `}
      ${part && html`
        <p class="small soft">
          ${t(isSure ? "player.part" : "player.closest", {
            from: decimal(part.from, 1),
            to: decimal(part.to, 1),
            video: decimal(evidence.candidate_start_s, 1),
          })}
        </p>
      `}
    </div>
  `;
}

// Waveform of an excerpt, where the service has no features of the whole sound.
function excerptWave(sound, { excerpt_song_start_s: start }, role, { speed }) {
  if (!sound) return null;
  const duration = sound.duration * (role === "candidate" ? (speed ?? 1) : 1);
  return { start_s: start, duration_s: duration, levels: levelsOf(sound.getChannelData(0)) };
}

function Wave({ wave, part, x, width, isSure, second, onPress }) {
  const step = wave.duration_s / wave.levels.length;
  const bars = useMemo(() => {
    const [inside, outside] = [[], []];
    wave.levels.forEach((level, column) => {
      const at = wave.start_s + (column + 0.5) * step;
      const tall = Math.max(1, (level / 100) * (LANE_PX - 8));
      const bar = `M${x(at).toFixed(1)} ${((LANE_PX - tall) / 2).toFixed(1)}v${tall.toFixed(1)}`;
      (part && at >= part.from && at <= part.to ? inside : outside).push(bar);
    });
    return { inside: inside.join(""), outside: outside.join("") };
  }, [wave, x(0), x(1)]);
  const press = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    onPress((event.clientX - box.left) / box.width);
  };
  const thick = Math.max(0.8, 0.65 * (x(step) - x(0)));
  return html`
    <svg
      class=${`wave ${isSure ? "sure" : ""}`}
      viewBox=${`0 0 ${width} ${LANE_PX}`}
      aria-hidden="true"
      onPointerDown=${onPress ? press : undefined}
    >
      ${part && html`
        <rect class="part" x=${x(part.from)} y="0" width=${Math.max(1, x(part.to) - x(part.from))} height=${LANE_PX} />
      `}
      <path d=${bars.outside} stroke-width=${thick} />
      <path class="inside" d=${bars.inside} stroke-width=${thick} />
      ${second !== undefined && html`<line class="head" x1=${x(second)} x2=${x(second)} y1="0" y2=${LANE_PX} />`}
    </svg>
  `;
}

const GRAIN_S = 0.05;
const SEARCH_S = 0.008;
const STEP = 4; // samples skipped when two grains are compared

// How a change of speed and pitch is undone: the playback rate restores the pitch, the stretch factor restores the rest
// of the speed. `semitones` null: the pitch moved with the speed.
export function undoing(speed, semitones) {
  const rate = semitones === null ? 1 / speed : 2 ** (-semitones / 12);
  return { rate, factor: speed * rate };
}

// Samples that last `factor` times as long at the same pitch.
export function stretched(samples, factor, sampleRate) {
  const hop = Math.round((sampleRate * GRAIN_S) / 2);
  const reach = Math.round(sampleRate * SEARCH_S);
  const output = new Float32Array(Math.floor(samples.length * factor));
  let before = 0;
  for (let at = 0; at < output.length; at += hop) {
    const ideal = Math.round(at / factor);
    const from = at === 0 ? 0 : closest(samples, before + hop, ideal, reach, hop);
    for (let n = 0; n < 2 * hop && at + n < output.length; n += 1) {
      const fade = at === 0 && n < hop ? 1 : 0.5 - 0.5 * Math.cos((Math.PI * n) / hop);
      output[at + n] += (samples[from + n] ?? 0) * fade;
    }
    before = from;
  }
  return output;
}

// The place near `wanted` whose samples are most like those that would have followed.
function closest(samples, follows, ideal, reach, length) {
  let best = ideal;
  let most = -Infinity;
  for (let place = Math.max(0, ideal - reach); place <= ideal + reach; place += 1) {
    let sum = 0;
    for (let n = 0; n < length; n += STEP) sum += (samples[place + n] ?? 0) * (samples[follows + n] ?? 0);
    if (sum > most) {
      most = sum;
      best = place;
    }
  }
  return best;
}
