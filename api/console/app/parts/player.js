// A/B player: both clips run at once and one of them is audible, so that switching changes only the
// volume and keeps the position. It uses Web Audio because audio elements cannot switch that precisely,
// and the usual waveform library sets markup, which the page's Trusted Types policy forbids.
import { fetchFile } from "../api.js";
import { decimal } from "../format.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { theme } from "../state.js";
import { CheckField, ErrorNote, Icon, Loading, Segment } from "./ui.js";
import "../messages/evidence.js";

const FADE_S = 0.012;
const LEAST_STRETCH = 0.005; // less is inaudible over ten seconds
const ROLES = ["reference", "candidate"];

// Peak amplitude per column, 0 to 1.
function peaks(samples, columns) {
  const wide = Math.max(1, Math.floor(samples.length / columns));
  const heights = new Float32Array(columns);
  for (let column = 0; column < columns; column += 1) {
    let most = 0;
    for (let at = column * wide; at < (column + 1) * wide; at += 1) most = Math.max(most, Math.abs(samples[at] ?? 0));
    heights[column] = most;
  }
  const top = Math.max(...heights) || 1;
  return heights.map((value) => value / top);
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

async function decode(excerpt) {
  if (!excerpt) return null;
  const data = await (await fetchFile(excerpt.path)).arrayBuffer();
  return new OfflineAudioContext(1, 1, 44_100).decodeAudioData(data);
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

// `isSure`: speed and pitch are findings, not the best guess about a rejected pair; only findings are undone at first.
export function Player({ reference, candidate, speed, semitones = null, isSure = true }) {
  const pair = `${reference?.path} ${candidate?.path}`;
  const [state, setState] = useState({}); // with its pair, so that sounds of the previous pair are not played
  useEffect(() => {
    let deck = null;
    let isGone = false;
    Promise.all([decode(reference), decode(candidate)]).then(
      ([referenceSound, candidateSound]) => {
        if (isGone) return;
        deck = new Deck({ reference: referenceSound, candidate: candidateSound });
        setState({ pair, deck });
      },
      (error) => {
        if (!isGone) setState({ pair, error });
      },
    );
    return () => {
      isGone = true;
      deck?.close();
    };
  }, [pair]);
  if (state.pair !== pair) return html`<${Loading} rows=${2} text=${t("player.loading")} />`;
  if (state.error) return html`<${ErrorNote} error=${state.error} />`;
  return html`
    <${Lanes}
      key=${pair}
      isSure=${isSure}
      deck=${state.deck}
      semitones=${semitones}
      starts=${{ reference: reference?.start_s ?? 0, candidate: candidate?.start_s ?? 0 }}
      speed=${speed}
    />
  `;
}

function Lanes({ deck, starts, speed, semitones, isSure }) {
  const present = ROLES.filter((role) => deck.sounds[role]);
  const [live, setLive] = useState(present[0]);
  const [isPlaying, setPlaying] = useState(false);
  const [at, setAt] = useState(0);
  const [isUndone, setUndone] = useState(isSure && speed !== 1);
  const undone = useMemo(
    () => deck.sounds.candidate && speed !== 1 && undo(deck.sounds.candidate, speed, semitones),
    [deck, speed, semitones],
  );
  deck.undone = isUndone ? undone : null;
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
  const begin = (from = at >= deck.length - 0.05 ? 0 : at) => {
    deck.play(live, from).then((isStarted) => {
      if (isStarted) setPlaying(true);
    });
    setAt(from);
  };
  const pause = () => {
    deck.from = deck.position;
    deck.stop();
    setPlaying(false);
  };
  const choose = (role) => {
    setLive(role);
    deck.select(role);
  };
  const jump = (to) => {
    if (isPlaying) begin(to);
    else {
      deck.from = to;
      setAt(to);
    }
  };
  // X switches from anywhere on the page except text fields. A layout effect, so that it works from the first frame on.
  useLayoutEffect(() => {
    const keys = (event) => {
      const isTyping = event.target.matches?.("textarea, select, input:not([type=range], [type=checkbox])");
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (event.key.toLowerCase() === "x" && isPlain && !isTyping && present.length > 1)
        choose(live === "reference" ? "candidate" : "reference");
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [live]);
  return html`
    <div class="player">
      <div class="row">
        <button type="button" class="button main-act" onClick=${() => (isPlaying ? pause() : begin())}>
          <${Icon} name=${isPlaying ? "pause" : "play"} />
          ${t(isPlaying ? "player.pause" : "player.play")}
        </button>
        ${present.length > 1 && html`
          <${Segment}
            label=${t("player.switch")}
            options=${[
              ["reference", `A · ${t("evidence.reference")}`],
              ["candidate", `B · ${t("evidence.candidate")}`],
            ]}
            value=${live}
            onChange=${choose}
          />
        `}
        <span class="small soft num">${decimal(at, 1)} / ${decimal(deck.length, 1)} s</span>
      </div>
      ${present.map((role) => html`
        <${Lane}
          key=${role}
          role=${role}
          buffer=${deck.sound(role)}
          start=${starts[role]}
          share=${deck.length ? at / deck.length : 0}
          span=${deck.sound(role).duration / deck.rate(role) / deck.length}
          isLive=${role === live}
          onJump=${(share) => jump(share * deck.length)}
        />
      `)}
      <label class="field">
        <span class="label">${t("player.position")}</span>
        <input
          type="range"
          min="0"
          max=${deck.length.toFixed(2)}
          step="0.1"
          value=${at}
          onInput=${(event) => jump(Number(event.currentTarget.value))}
          style=${{ accentColor: "var(--accent)" }}
        />
      </label>
      ${speed !== 1 && html`
        <${CheckField}
          label=${t("player.undo", { factor: speed.toFixed(2) })}
          value=${isUndone}
          onChange=${(value) => {
            pause();
            setUndone(value);
          }}
        />
      `}
      ${present.length > 1 && html`<p class="small soft">${t("player.note")}</p>`}
    </div>
  `;
}

function Lane({ role, buffer, start, share, span, isLive, onJump }) {
  const canvas = useRef(null);
  const currentTheme = theme.value;
  useEffect(() => {
    draw(canvas.current, buffer, share, span, isLive);
  }, [buffer, share, span, isLive, currentTheme]);
  const press = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    onJump(Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)));
  };
  return html`
    <div class="lane" data-live=${String(isLive)}>
      <span class="label small">
        ${role === "reference" ? "A" : "B"} ·${" "}
        ${t(`evidence.${role}`)}${" "}
        <span class="soft">${t("player.from", { second: decimal(start, 1) })}</span>
      </span>
      <canvas ref=${canvas} onPointerDown=${press} aria-hidden="true"></canvas>
    </div>
  `;
}

const peaksOf = new WeakMap(); // peaks per buffer
function draw(canvas, buffer, share, span, isLive) {
  const ratio = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio);
  const height = Math.round(canvas.clientHeight * ratio);
  if (!width || !height) return;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const columns = Math.max(1, Math.floor(canvas.clientWidth / 3));
  if (peaksOf.get(buffer)?.length !== columns) peaksOf.set(buffer, peaks(buffer.getChannelData(0), columns));
  const style = getComputedStyle(canvas);
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, width, height);
  const heights = peaksOf.get(buffer);
  const wide = (width * span) / columns;
  for (let at = 0; at < columns; at += 1) {
    pen.fillStyle = style.getPropertyValue((at * wide) / width <= share && isLive ? "--accent" : "--edge");
    pen.globalAlpha = isLive ? 1 : 0.5;
    const tall = Math.max(ratio, heights[at] * height * 0.86);
    pen.fillRect(at * wide, (height - tall) / 2, Math.max(1, wide - ratio), tall);
  }
  pen.globalAlpha = 1;
  pen.fillStyle = style.getPropertyValue("--ink");
  pen.fillRect(share * width, 0, Math.max(1, ratio * 1.5), height);
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
