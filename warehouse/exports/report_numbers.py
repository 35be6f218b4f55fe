"""Repeat every number of the reports of jobs from the CSV tables of this data package.

    pip install pandas
    python report_numbers.py             # all jobs
    python report_numbers.py 9240d9bd    # one job; the beginning of its id will do

It prints JSON. It needs nothing but pandas and the files beside it: `load` reads a table with its
types, `numbers_of` computes the numbers of a job. A number that is unknown is null, never 0.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

FOLDER = Path(__file__).parent
COUNTS = ["digg_count", "comment_count", "collect_count", "share_count"]
DTYPES = {"string": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean"}


def load(name: str) -> pd.DataFrame:
    """Return a table, for example `marts_rankings`, with the types of `datapackage.json`."""
    package = json.loads((FOLDER / "datapackage.json").read_text(encoding="utf-8"))
    resources = {resource["name"]: resource for resource in package["resources"]}
    fields = {one["name"]: one["type"] for one in resources[name]["schema"]["fields"]}
    frame = pd.read_csv(
        FOLDER / resources[name]["path"],
        dtype={field: DTYPES.get(kind, "string") for field, kind in fields.items()},
        keep_default_na=False,  # an account may be called "NA"
        na_values=[""],
    )
    for field, kind in fields.items():
        if kind == "datetime":
            frame[field] = pd.to_datetime(frame[field], utc=True, format="ISO8601")
        elif kind == "date":
            frame[field] = pd.to_datetime(frame[field], format="ISO8601")
        elif kind == "array":
            frame[field] = frame[field].map(json.loads, na_action="ignore")
    return frame


def rows_of(name: str, job_id: str) -> pd.DataFrame:
    """Return the rows of a table that a job wrote."""
    frame = load(name)
    return frame[frame["job_id"] == job_id]


def ranked(videos: pd.DataFrame, parameters: dict[str, Any]) -> pd.DataFrame:
    """Return videos in the order of the job: unknown last, ties by the length of the id, the id."""
    likes, comments, collects, shares = (videos[name] for name in COUNTS)
    videos = videos.assign(hot_score=likes + 4 * comments + 3 * collects + 8 * shares)
    videos["is_viral"] = (likes >= parameters["viral_threshold"]).fillna(False).astype(bool)
    if parameters["viral_only"]:
        videos = videos[videos["is_viral"]]
    published = videos["created_at"].astype("int64").astype("Int64")
    published = published.mask(videos["created_at"].isna())
    values = {"hot_score": videos["hot_score"], "latest": published, "oldest": -published}
    order = parameters["sort_by"]
    value = values[order] if order in values else videos[f"{order}_count"]
    videos = videos.assign(value=value, length=videos["aweme_id"].str.len())
    videos = videos.sort_values(
        ["value", "length", "aweme_id"], ascending=[False, True, True], na_position="last"
    )
    return videos.head(parameters["count"]).assign(rank=lambda top: range(1, len(top) + 1))


def half_of_hot_score(top: pd.DataFrame) -> dict[str, int] | None:
    """Return how many videos hold half of the hot score, and their share; None below three."""
    scores = top["hot_score"][top["hot_score"] > 0].sort_values(ascending=False).cumsum()
    if len(scores) < 3:  # noqa: PLR2004 -- of fewer nothing can be said
        return None
    count = int((2 * scores < scores.iloc[-1]).sum()) + 1
    share = min(99, round(100 * int(scores.iloc[count - 1]) / int(scores.iloc[-1])))
    return {"videos": count, "of": len(scores), "share_percent": share}


def accounts_of(videos: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return the accounts of confirmed videos with their sums, most likes first."""
    groups = videos.dropna(subset="sec_uid").groupby("sec_uid")
    sums = groups[COUNTS].sum(min_count=1).add_prefix("linked_")
    accounts = sums.assign(linked_video_count=groups.size()).reset_index()
    likes = accounts["linked_digg_count"].fillna(0)
    accounts = accounts.assign(likes=likes).sort_values(["likes", "sec_uid"], ascending=[False, True])
    known = ["sec_uid", "follower_count", "total_favorited", "aweme_count"]
    return accounts.drop(columns="likes").merge(profiles[known], on="sec_uid", how="left")


def rejected_of(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the best pair of each candidate that no pair accepted, most credible first."""
    accepted = pairs.loc[pairs["verdict"].isin(["confirmed", "variant"]), "candidate_aweme_id"]
    pairs = pairs[(pairs["verdict"] == "rejected") & ~pairs["candidate_aweme_id"].isin(accepted)]
    pairs = pairs.assign(explained=pairs["observation"].notna(), points=pairs["score"].fillna(0))
    # the order of equals is that of the report: by candidate, best score first
    pairs = pairs.sort_values(
        ["candidate_aweme_id", "score", "comparison_id"], ascending=[True, False, True]
    ).sort_values(["explained", "points"], ascending=False, kind="stable")
    return pairs.drop_duplicates("candidate_aweme_id").drop(columns=["explained", "points"])


def list_of(frame: pd.DataFrame, columns: list[str]) -> list[dict[str, Any]]:
    """Return the rows as dictionaries of plain values; unknown is None."""
    names = [name for name in columns if name in frame]
    plain = frame[names].astype(object)
    rows: list[dict[str, Any]] = plain.where(plain.notna(), None).to_dict("records")
    return rows


def numbers_of(job: pd.Series) -> dict[str, Any]:
    """Return the numbers of the report of a job, a row of `results_jobs`."""
    own, scan = job["job_id"], job["scan_job_id"]  # differ where a stored result was reused
    parameters = json.loads(job["parameters"])
    of_result = rows_of("results_videos", own)
    lists = {
        name: of_result[of_result["result_list"] == name]
        for name in ("confirmed", "variants", "search_related")
    }
    confirmed, variants, related = lists.values()
    numbers: dict[str, Any] = {
        "job_id": own,
        "kind": job["kind"],
        "algorithm": job["algorithm"],
        "parameters": parameters,
    }
    coverage = rows_of("marts_coverage", scan)
    pairs = rows_of("marts_audio_comparisons", scan)
    numbers["requests_used"] = int(coverage["requests"].sum())
    numbers["sources"] = list_of(
        coverage, ["surface", "requests", "pages", "items", "new_items", "stop_reason"]
    )
    for name, table in (
        ("decisions", "results_source_decisions"),
        ("list_shares", "results_list_shares"),
        ("search_terms", "results_search_terms"),
        ("audited_videos", "results_audited_videos"),
    ):
        frame = rows_of(table, own)
        numbers[name] = list_of(frame, [column for column in frame if column != "job_id"])
    missing = rows_of("results_not_reached", own)
    numbers["not_reached"] = missing["surface"].value_counts().to_dict()
    for name, table in (("estimates", "marts_coverage_estimates"), ("audit", "marts_random_audits")):
        frame = rows_of(table, scan)
        kept = [column for column in frame if column not in {"job_id", "committed_at"}]
        numbers[name] = list_of(frame, kept)
    numbers["search_related"] = {
        "returned_count": len(related),
        "by_relevance": related["search_relevance_level"].value_counts().to_dict(),
        "videos": list_of(related, ["aweme_id", *COUNTS]),
    }
    if job["kind"] != "scan":
        return numbers
    top, changed = ranked(confirmed, parameters), ranked(variants, parameters)
    candidates = rows_of("marts_candidates", scan)
    accounts = accounts_of(confirmed, rows_of("marts_account_summaries", scan))
    measured = [
        "comparison_id", "candidate_aweme_id", "reference_aweme_id", "segment", "chroma_distance",
        "mfcc_distance", "overlap_s", "score", "speed", "semitones", "peak_agreement", "reason",
    ]  # fmt: skip
    used = pd.DataFrame({"comparison_id": top["comparison_id"].dropna().unique()})
    cards = used.merge(pairs, on="comparison_id")
    changed = changed.merge(pairs[["comparison_id", "speed", "semitones"]], on="comparison_id")
    rejected = rejected_of(pairs)
    numbers |= {
        "confirmed_count": len(confirmed),
        "confirmed_by_link_type": confirmed["link_type"].value_counts().to_dict(),
        "totals_of_confirmed": {name: int(confirmed[name].sum()) for name in COUNTS},
        "candidate_count": int(candidates["aweme_id"].nunique()),
        "candidates_by_outcome": candidates.sort_values("committed_at")
        .drop_duplicates("aweme_id", keep="last")["outcome"].value_counts().to_dict(),
        "account_count": len(accounts),
        "variant_count": len(variants),
        "variants_by_kind": variants["kind"].value_counts().to_dict(),
        "compared_pair_count": len(pairs),
        "rejected_count": len(rejected),
        "half_of_hot_score": half_of_hot_score(top),
        "ranking": list_of(
            top, ["rank", "aweme_id", *COUNTS, "hot_score", "is_viral", "link_type", "create_time"]
        ),
        "accounts": list_of(accounts, list(accounts)),
        "pairs": list_of(cards, measured),
        "variants": list_of(
            changed, ["rank", "aweme_id", "kind", "speed", "semitones", *COUNTS, "hot_score"]
        ),
        "rejected": list_of(rejected, measured),
    }  # fmt: skip
    in_ranking = related["aweme_id"].isin(top["aweme_id"])
    numbers["search_related"]["visible_ranking_overlap_count"] = int(in_ranking.sum())
    return numbers


if __name__ == "__main__":
    beginning = sys.argv[1] if len(sys.argv) > 1 else ""
    jobs = load("results_jobs")
    chosen = [job for _, job in jobs.iterrows() if job["job_id"].startswith(beginning)]
    print(json.dumps([numbers_of(job) for job in chosen], indent=2, ensure_ascii=False))
