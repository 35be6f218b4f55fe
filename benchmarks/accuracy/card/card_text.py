"""The words of the accuracy card around its tables."""

METHOD = """# Accuracy of the audio matcher

`make bench-audio` writes this card; nothing in it is edited by hand. There are two kinds of audio,
and each has columns of its own. A table without them is of generated audio.

**Generated audio** is made by the project: {tracks} tracks, half composed and played by the
sandbox, a sixth machine-made loops, a third scores rendered by FluidSynth (sound fonts: {fonts}).
Narration is by {voice}, crowds are many voices at once.

**Real audio** are {recordings} recordings of {genres} genres, in the reported part, from Debian's
packages of free games, with songs in stems, loops of a pack, and people who speak announcements.
`benchmarks/accuracy/real/recordings.toml` lists packages, licences and hashes; `make
setup-bench-audio` fetches them. Two pieces of a recording are edited where time is uneven; mash-ups
and songs of loops take several places of the same sounds, as there are few of them.

Clips are real AAC and MP3 files of 2 to 40 s; the product's own decoder processes decode and
measure them once, and the product's own functions compare them. Tracks, cuts, levels and speeds
follow from fixed seeds. Measured with verdict revision {revision}, unless a table names another;
a matcher of another revision may judge otherwise.

**Split.** A hash of its name assigns each track or recording to one of two parts. The matcher is
tuned on the development part only, and no labelled pair mixes the parts; every figure of this card
is of the reported part: {reported} generated tracks, {pairs} labelled pairs ({same} of the same
recording) and {groups} groups; {recordings} real recordings, {real_pairs} labelled pairs
({real_same} of the same recording) and {real_groups} groups. At least one track of an unrelated
pair is in the reported part.

**Labels.** A pair is the same if both clips carry the same recording, changed or not.
`accepted` is a verdict of *confirmed* or *variant*, which needs a score of at least 0.65. Where two
clips share a narration, or a crowd as loud as the music, over different music, both do contain one
common recording: the label is arguable, so figures are given with and without those pairs. Brackets
contain Wilson's 95 % interval, and `of` the number of pairs. Recall at precision 0.99 uses the best
threshold on these pairs, for every tool.

**Reached.** A goal for a share is reached (*yes*) if the lower end of the interval reaches it;
where only the share does, the word is *n too small*, else *no*. A goal of 0 or 1.00 is reached if
nothing was wrong in as many pairs as are stated; if the goal names a number ("0 of 100"), at least
so many were tried, else the word is *n too small*.

**Versions.** Another performance of a composition, a cover or a live one, is rejected, and its
version score names it. Precision sets those that are found against every pair of other music on
this card that is called a version: labelled, edited and unrelated ones. Nobody plays the listed
real recordings anew, so real audio only shows how often other music is called a version.

**Full range.** {edited} more generated tracks of other seeds are edited: by the project's own
resampling, by FFmpeg's filters (`atempo`, `asetrate`, Rubber Band) and codecs, in simulated rooms
(pyroomacoustics). Each edited file is compared with its own reference and with another track's,
{edited_pairs} pairs in all; real recordings in {real_edits} pairs, those of shared sounds included.
No constant of the matcher was chosen on them."""

CLOSING = """## Known limits

- A voice louder than the music masks most evidence in electronic or drum material.
- Two clips with the same speech, or the same crowd, over different music share a recording, but
  not the music. They are distinguished because speech glides and music holds its tones: steady
  peaks must agree about as often as fleeting ones. If neither clip has tones (drums alone), this
  does not work, and a few pairs are still accepted. Such pairs are marked
  `shared_voice`, those slightly below the threshold `uncertain`; both need a manual review.
- `likely_cover` is a hint with thresholds from the development part; it misses many covers.
- If reference and candidate both contain loud speech, choose cleaner references.
- A mash-up whose lead is the very recording shares steady tones with it, unlike a voice or a crowd.
  It is rejected where the other tones clearly disagree in a band of the spectrum, or where both
  sounds have many tones of their own, but some whose lead is loud are still accepted. The same
  players' next take is rejected in windows of 6 s and more, but a few seconds of it may pass as an
  excerpt.
- The search covers speeds and tempos from half to double, pitch shifts from nine semitones down to
  twelve up, and both changed independently from 0.66 to 1.5 times the tempo. Pieces of
  2 to 3.8 s are found unchanged only. Reversed sound is named and not accepted. Of each sound the
  first 60 s are used.
- Speeds within 3 % of the original are left out of the pairs: whether they count as unchanged is
  arguable.
- Real recordings are masters of studios; what happens to them afterwards (microphones, rooms,
  editors, platforms) is imitated here too. Genres that free games do not have are missing, singing
  most of all, and the people who speak are recorded by telephone.

## How to reproduce

```
make setup-bench        # once, as root on Debian: FluidSynth, sound fonts, espeak-ng, ffmpeg
make setup-bench-audio  # once, on Debian: 0.7 GB of packages with real recordings, not installed
make bench-audio        # everything
make bench-audio-far    # 100,000 unrelated pairs through the full search, on the same card
.venv/bin/python -m benchmarks.accuracy --only timing     # only the costs
.venv/bin/python -m benchmarks.accuracy --only range      # only the full range of edits
.venv/bin/python -m benchmarks.accuracy --only real       # only real recordings
.venv/bin/python -m benchmarks.accuracy --only real --part choosing  # their development part
.venv/bin/python -m benchmarks.accuracy --quick           # eight tracks, no card
make leaderboard        # other tools beside the matcher; --only card shows its figures here
make bench-versions     # compare the numbers with another Python version
```

Files and features are cached in `reports/bench-audio` (or `--cache DIR`). Without sound fonts or
espeak-ng the project's own synthesis replaces them, and the card states it. Costs are CPU time of
one thread and depend on the machine: compare them with `fpcalc` and librosa from the same run.
"""
