"""The README of a data package: what it shows, how to load it, how to repeat its numbers, method.

The program that repeats every number is `report_numbers.py`, which the package contains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from warehouse.exports.package_descriptions import citation_of, contributors_of, rights_of, sources_of
from warehouse.exports.package_files import PackageFile, PackageTable
from warehouse.records.evidence import ALGORITHM, VERDICT_REVISION, MatchThresholds

REPORT_NUMBERS = Path(__file__).with_name("report_numbers.py")
_DEMO = "**This is generated demo data. Nothing in it is real.**\n"
_LOADING = """## Load it

Every table is there twice, with the same rows. Parquet has the types:

```sh
pip install pandas pyarrow
```

```python
import pandas as pd

rankings = pd.read_parquet("data/marts_rankings.parquet")
```

CSV is text, so say which columns are ids (`string` in `datapackage.json`): pandas would make numbers of
them. An empty cell is an unknown value, never 0.

```python
rankings = pd.read_csv(
    "data/marts_rankings.csv",
    dtype={"job_id": "string", "aweme_id": "string", "music_id": "string"},
    parse_dates=["committed_at"],
)
```

`SELECT * FROM 'data/marts_rankings.parquet'` does the same in DuckDB. Lists in CSV are JSON. CSV and
Parquet hold every text as it was read. **For Excel and other spreadsheets take neither**: a
spreadsheet would run a text that begins with `=` and round ids of 19 digits. Ask for
`sametrack export TABLE --format xlsx`.
"""
_NUMBERS = """## Repeat the numbers of a report

The main numbers of the newest scan, from the CSV files with pandas alone:

```python
import json

from report_numbers import load, ranked

jobs = load("results_jobs").query("kind == 'scan'").sort_values("created_at")
job = jobs.iloc[-1]
parameters = json.loads(job["parameters"])
videos = load("results_videos")
videos = videos[videos["job_id"] == job["job_id"]]
confirmed = videos[videos["result_list"] == "confirmed"]

print(len(confirmed), "confirmed videos")
print(confirmed["link_type"].value_counts())
print(confirmed[["digg_count", "comment_count", "collect_count", "share_count"]].sum())
print(confirmed["sec_uid"].nunique(), "accounts, at least")
print(ranked(confirmed, parameters)[["rank", "aweme_id", "hot_score", "link_type"]])

candidates = load("marts_candidates")
candidates = candidates[candidates["job_id"] == job["scan_job_id"]]
print(candidates["aweme_id"].nunique(), "candidates")
print(candidates.drop_duplicates("aweme_id", keep="last")["outcome"].value_counts())

pairs = load("marts_audio_comparisons")
pairs = pairs[pairs["job_id"] == job["scan_job_id"]]
print(pairs["verdict"].value_counts())
```

`report_numbers.py` has `load`, and repeats every number that the report of a job shows: ranking,
accounts, evidence, rejected candidates, variants, search, coverage, estimates and audit.

```sh
python report_numbers.py
```
"""
_METHOD = """## Method

A **candidate** is a video that a list, an account page, a hashtag page or the guest search showed. It
is **confirmed** in one of three ways (`link_type`): `exact_music_id`, it names the music id of the track;
`audio_fingerprint_match`, its own sound was compared and matches; `verified_music_id_graph`, it names another
music id of which a sound was compared and matches.

Sounds are compared by the algorithm `{algorithm}` (revision {revision}) on chroma, MFCC and spectral
peaks at a rigid alignment. Of each music id up to two videos are compared with up to three references,
and the most credible pair decides. Distances are 1 - correlation: 0 is identical, about 1 unrelated.
The usual limits, of which `limits` of each row of `marts_audio_comparisons` has those applied:

{limits}

A pair is confirmed if the whole overlap meets the limits of `whole_*`, or a window of `local_window_s`
seconds those of `local_*`, at original speed and pitch, with sufficient peak agreement and a composite score
of at least `match_threshold`. What meets them only after a change of speed or pitch is undone, or for a few seconds, is a
**variant**: reported apart, never confirmed. `rejected` pairs keep their measurements and reason;
`not_comparable` (no sound, silent, too short, refused by the decoder) is no rejection.

The **hot score** is likes + 4 comments + 3 collects + 8 shares, unknown if one of them is. A ranking has
the order of the job (`sort_by`), unknown values last, ties by the length of the id and then the id. A video is
viral from `viral_threshold` likes on. `marts_coverage` says what was read and why reading stopped,
`marts_coverage_estimates` and `marts_random_audits` how much may be missing; both state their assumptions
and 95 % limits, and are no counts.

**Rejected candidates** are in `marts_candidates` (outcome, reason) and `marts_audio_comparisons` (every
measured pair), their videos in `marts_videos`.
"""


def render_readme(
    facts: Mapping[str, str],
    tables: Sequence[PackageTable],
    files: Sequence[PackageFile],
    *,
    title: str,
) -> str:
    """Return the page as Markdown."""
    names = {table.name for table in tables}
    limits = "\n".join(f"- `{name}`: {value:g}" for name, value in asdict(MatchThresholds()).items())
    parts = [
        f"# {title}\n",
        _DEMO if facts["is_demo_data"] == "true" else "",
        f"It shows what was known at **{facts['as_of']}** (`as_of`), which is its version.\n",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()) + "\n",
        _LOADING if "marts_rankings" in names else "",
        _NUMBERS if "results_jobs" in names else "",
        _METHOD.format(algorithm=ALGORITHM, revision=VERDICT_REVISION, limits=limits),
        _guide(tables, files),
        _keys(tables),
        _origin(facts, title),
    ]
    return "\n".join(part for part in parts if part)


def _guide(tables: Sequence[PackageTable], files: Sequence[PackageFile]) -> str:
    rows = [
        f"| `{table.name}` | {table.row_count:,} | {table.contract.row} |".replace("\n", " ")
        for table in tables
    ]
    others = [
        f"- `{file.path}`: {file.description}" for file in files if "/" not in file.path
    ]
    return "\n".join(
        [
            "## Files",
            "",
            *others,
            "- `checksums.sha256`: SHA-256 of every file, for `sha256sum --check checksums.sha256`.",
            "",
            "In `data/`, each as `.csv` and `.parquet`. `raw_*` are observations, `marts_*` conclusions,",
            "`results_*` what the results of jobs state. `dictionary.md` has every column with its unit.",
            "",
            "| table | rows | one row per |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _keys(tables: Sequence[PackageTable]) -> str:
    resolved, open_ = [], []
    for table in tables:
        for key in table.references:
            line = f"- `{table.name}.{key.column}` is `{key.table}.{key.key}`"
            if key.outside_count:
                why = f": {key.why}" if key.why else ""
                open_.append(f"{line}; {key.outside_count:,} values are not in it{why}")
            else:
                resolved.append(line)
    lines = ["## Keys", "", "Every value of these columns is a key of the other table:", "", *resolved]
    if open_:
        lines += ["", "These columns also have values whose rows are not in this package:", "", *open_]
    return "\n".join([*lines, ""])


def _origin(facts: Mapping[str, str], title: str) -> str:
    sources = "\n".join(f"- {source['title']}" for source in sources_of(facts))
    people = "\n".join(f"- {one['title']} ({one['role']})" for one in contributors_of(facts))
    return (
        f"## Sources, contributors, citation, rights\n\n{sources}\n\n{people}\n\n"
        f"Cite as: {citation_of(facts, title=title)}\n`CITATION.cff` has the same for reference "
        f"managers.\n\n{rights_of(facts)}\n"
    )
