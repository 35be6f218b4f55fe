"""The words of the accuracy card around its tables."""

METHOD = """# How well the ear hears

This card is written by `make bench-audio`; nothing in it is typed by hand. All sound is made by the
project: {tracks} tracks, half composed and played by the stand-in world, a sixth loops as machines
play them, a third scores rendered by FluidSynth (sound fonts: {fonts}).
Narration is by {voice}, crowds are many voices at once. Clips are real AAC and MP3
files of 6 to 40 s; they are decoded by the listening children that the product uses, measured once,
and compared by the functions that decide about candidates. Tracks, cuts, levels and speeds follow
from fixed seeds.

**Split.** Each track belongs to one of two parts by a hash of its name. Whoever tunes the ear
looks at the choosing part only, and no labelled pair has a track in each; this card is the reported
part: {reported} tracks, {pairs} labelled pairs ({same} of the same recording) and {groups} groups.
Of the two tracks of an unrelated pair at least one is reported.

**What counts.** A pair is the same when both clips carry the same recording, changed or not.
`accepted` is a verdict of *confirmed* or *variant*, which needs a score of at least 0.65. Where two
clips share a narration, or a crowd as loud as the music, over different music, one recording really
is in both: the label can be argued, so figures are given with and without those pairs. Brackets
hold Wilson's 95 % interval. Recall at precision 0.99 takes the best threshold on these very pairs,
for every tool alike."""

CLOSING = """## Known limits

- A voice louder than the music over electronic or drum material hides most of what could agree.
- Two clips with the same spoken take, or the same crowd, over different music share a recording,
  only not the music. They are told apart because speech glides and music holds its tones: peaks
  that are steady must agree about as often as fleeting ones. Where neither clip has tones of its
  own (drums alone) that says nothing, and a few are still accepted. Such pairs are called
  `uncertain`, as are those little below the threshold; a person should hear them.
- `likely_cover` is a hint from the numbers, chosen on the other part; many covers bear no name.
- Where reference and candidate both carry loud speech, choose cleaner references.
- Changes of speed beyond about 34 %, of tempo beyond 12 %, of pitch beyond 3 semitones, reversed
  sound and pieces under 5.5 s are not searched for.
- Speeds within 3 % of the original are left out of the pairs: whether they are still "as heard" is
  a matter of taste.
- This sound is synthetic. Real microphones, rooms and loudness wars are only imitated, so figures
  on real clips will be lower.

## How to run it again

```
make setup-bench      # once, as root on Debian: FluidSynth, sound fonts, espeak-ng, fpcalc
make bench-audio      # all of it
.venv/bin/python -m tests.bench.accuracy --only timing     # the costs alone
.venv/bin/python -m tests.bench.accuracy --quick           # eight tracks, no card
make bench-versions   # the same sounds, judged by another Python too: are all numbers equal?
```

Files and features are kept in `reports/bench-audio` (or `--cache DIR`). Without sound fonts or
espeak-ng the project's own synthesis takes their place, and the card says so. Costs are processor
time of one thread and depend on the machine: read them against `fpcalc` and librosa, which ran in
the same run.
"""
