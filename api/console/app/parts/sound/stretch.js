// Plays a sound longer or shorter at its own pitch, by WSOLA: overlapping grains, each taken where it
// continues the one before (Verhelst and Roelands, 1993).
const GRAIN_S = 0.05;
const SEARCH_S = 0.008;
const STEP = 4; // samples skipped when two grains are compared

// What undoes a change of speed and pitch: the rate of playing restores the pitch, the factor of
// stretching what is then left of the speed. `semitones` null: the pitch moved with the speed.
export function undoing(speed, semitones) {
  const rate = semitones === null ? 1 / speed : 2 ** (-semitones / 12);
  return { rate, factor: speed * rate };
}

// Samples that last `factor` times as long at the same pitch.
export function stretched(samples, factor, sampleRate) {
  const hop = Math.round((sampleRate * GRAIN_S) / 2);
  const reach = Math.round(sampleRate * SEARCH_S);
  const made = new Float32Array(Math.floor(samples.length * factor));
  let before = 0;
  for (let at = 0; at < made.length; at += hop) {
    const wanted = Math.round(at / factor);
    const from = at === 0 ? 0 : closest(samples, before + hop, wanted, reach, hop);
    for (let n = 0; n < 2 * hop && at + n < made.length; n += 1) {
      const fade = at === 0 && n < hop ? 1 : 0.5 - 0.5 * Math.cos((Math.PI * n) / hop);
      made[at + n] += (samples[from + n] ?? 0) * fade;
    }
    before = from;
  }
  return made;
}

// The place near `wanted` whose samples are most like those that would have followed.
function closest(samples, follows, wanted, reach, length) {
  let best = wanted;
  let most = -Infinity;
  for (let place = Math.max(0, wanted - reach); place <= wanted + reach; place += 1) {
    let sum = 0;
    for (let n = 0; n < length; n += STEP) sum += (samples[place + n] ?? 0) * (samples[follows + n] ?? 0);
    if (sum > most) {
      most = sum;
      best = place;
    }
  }
  return best;
}
