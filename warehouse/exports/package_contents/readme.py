"""The README of a data package: what it shows, how to load it, how to repeat its numbers, method.

The program that repeats every number is `report_numbers.py`, which the package contains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from warehouse.exports import package_descriptions as descriptions
from warehouse.exports.package_descriptions import PackageFile, PackageTable
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

CSV is text: name the columns of ids, or pandas makes numbers of them. `datapackage.json` has the
type of each column. An empty cell is an unknown value, never 0; a list is JSON.

```python
import pandas as pd

rankings = pd.read_csv(
    "data/marts_rankings.csv",
    dtype={"job_id": "string", "aweme_id": "string", "music_id": "string"},
    parse_dates=["committed_at"],
)
```

DuckDB reads `SELECT * FROM 'data/marts_rankings.parquet'`. Both files hold every text as it was
read, so take neither for Excel or another spreadsheet: it would run a text that begins with `=`,
and round ids of 19 digits. `sametrack export TABLE --format xlsx` makes a workbook, and
`sametrack export TABLE --bom` a CSV file in which such a text begins with an apostrophe.
"""
_NUMBERS = """## Repeat the numbers of a report

The main numbers of the newest scan, from the CSV files with pandas alone:

```python
import json

from report_numbers import load, ranked

jobs = load("results_jobs").query("kind == 'scan'").sort_values("created_at")
job = jobs.iloc[-1]
videos = load("results_videos")
videos = videos[videos["job_id"] == job["job_id"]]
confirmed = videos[videos["result_list"] == "confirmed"]

print(len(confirmed), "confirmed videos")
print(confirmed["link_type"].value_counts())
print(confirmed[["digg_count", "comment_count", "collect_count", "share_count"]].sum())
print(confirmed["sec_uid"].nunique(), "accounts, at least")
top = ranked(confirmed, json.loads(job["parameters"]))
print(top[["rank", "aweme_id", "hot_score", "link_type"]])

candidates = load("marts_candidates")
candidates = candidates[candidates["job_id"] == job["scan_job_id"]]
candidates = candidates.sort_values("committed_at").drop_duplicates("aweme_id", keep="last")
print(len(candidates), "candidates")
print(candidates["outcome"].value_counts())

pairs = load("marts_audio_comparisons")
pairs = pairs[pairs["job_id"] == job["scan_job_id"]]
print(pairs["verdict"].value_counts())
```

`report_numbers.py`, which has `load`, repeats every number of the report of a job: ranking,
accounts, evidence, rejected candidates, variants, search, coverage, estimates and audit.

```sh
python report_numbers.py
```
"""
_METHOD = """## Method

A **candidate** is a video that a list, an account, a hashtag or the guest search showed. It is
**confirmed** in one of three ways (`link_type`):

- `exact_music_id`: it names the music id of the track;
- `audio_fingerprint_match`: its own sound was compared and matches;
- `verified_music_id_graph`: it names another music id, of which a sound was compared and matches.

The algorithm `{algorithm}` (revision {revision}) compares chroma, MFCC and spectral peaks at a
rigid alignment. Of each music id up to two videos are compared with up to three references, and
the most credible pair decides. Distances are 1 - correlation: 0 is identical, about 1 unrelated.
A pair is confirmed if its sounds, as they are, meet the limits over the whole overlap or in a
window, agree in enough peaks, and reach the score. The usual limits; `limits` in
`marts_audio_comparisons` has those applied to a pair:

| limit | whole overlap | window |
| --- | --- | --- |
| chroma distance, at most | {whole_chroma_distance} | {local_chroma_distance} |
| MFCC distance, at most | {whole_mfcc_distance} | {local_mfcc_distance} |
| overlap in seconds, at least | {whole_overlap_s} | {local_overlap_s} (of {local_window_s}) |
| score, at least (`match_threshold`) | {match_threshold} | {match_threshold} |

What meets them only after a change of speed or pitch is undone, or for a few seconds, is a
**variant**: reported apart, never confirmed. **Rejected candidates** are in `marts_candidates` with
outcome and reason; `marts_audio_comparisons` has each of their measured pairs, and `marts_videos`
the videos. `not_comparable` (no sound, silent, too short, refused by the decoder) is no rejection.

The **hot score** is likes + 4 comments + 3 collects + 8 shares, and unknown if one of them is. A
ranking has the order of the job (`sort_by`): the greatest first, unknown values last, ties by the
length of the id and then the id. A video is viral from `viral_threshold` likes on.

**Coverage**: `marts_coverage` has what was read of each source and why reading stopped;
`marts_coverage_estimates` and `marts_random_audits` say how much may be missing, with 95 % limits.
They are estimates, and no counts.
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
    limits = {name: f"{value:g}" for name, value in asdict(MatchThresholds()).items()}
    lines = [
        # What the package is, how to load it, how to repeat its numbers, the method.
        f"# {title}\n",
        *([_DEMO] if facts["is_demo_data"] == "true" else []),
        f"It shows what was known at **{facts['as_of']}** (`as_of`), which is its version.\n",
        *(f"- {name}: {value}" for name, value in facts.items() if name != "tables"),
        "",
        *([_LOADING] if "marts_rankings" in names else []),
        *([_NUMBERS] if "results_jobs" in names else []),
        _METHOD.format(algorithm=ALGORITHM, revision=VERDICT_REVISION, **limits),
        # The files and tables, and how the tables join.
        "## Files\n",
        *(f"- `{file.path}`: {file.description}" for file in files if "/" not in file.path),
        "- `checksums.sha256`: `sha256sum --check checksums.sha256` verifies all files.\n",
        "Each table is a file of `data/`, as `.csv` and as `.parquet`: `raw_*` has observations,",
        "`marts_*` conclusions, `results_*` what the results of jobs state.\n",
        "| table | rows | one row per |",
        "| --- | --- | --- |",
        *(f"| `{table.name}` | {table.row_count:,} | {table.contract.row} |" for table in tables),
        "",
        _keys_section(tables),
        # Where the data come from, and how to cite them.
        "## Sources, contributors, citation, rights\n",
        *(f"- {source['title']}" for source in descriptions.sources_of(facts)),
        "",
        *(f"- {who['title']} ({who['role']})" for who in descriptions.contributors_of(facts)),
        "",
        f"Cite as: {descriptions.citation_of(facts, title=title)}\n",
        "`CITATION.cff` has the same for reference managers.\n",
        f"{descriptions.rights_of(facts)}\n",
    ]
    return "\n".join(lines)


def _keys_section(tables: Sequence[PackageTable]) -> str:
    """Return which tables join by which keys, and the values that have no row in the package."""
    joins: dict[str, set[str]] = {}
    outside = []
    for table in tables:
        for key in table.references:
            target = f"`{key.key}` of `{key.table}`"
            joins.setdefault(target, set()).add(f"`{key.column}`")
            if key.outside_count:
                why = f" ({key.why})" if key.why else ""
                outside.append(f"- `{table.name}.{key.column}`: {key.outside_count:,} outside{why}")
    lines = [
        "## Keys",
        "",
        "Tables join by these columns; `foreignKeys` in `datapackage.json` has them by table,",
        "where every value is inside this package.",
        "",
        *(f"- {target}: {', '.join(sorted(columns))}" for target, columns in joins.items()),
        "",
    ]
    if outside:
        lines += ["Values whose rows are not in this package:", "", *outside, ""]
    return "\n".join(lines)
