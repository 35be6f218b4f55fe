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
RANKED = ["rank", "aweme_id", *COUNTS, "hot_score", "is_viral", "create_time"]
DTYPES = {"string": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean"}


def load(name: str) -> pd.DataFrame:
    """Return a table, for example `marts_rankings`, with the types of `datapackage.json`."""
    package = json.loads((FOLDER / "datapackage.json").read_text(encoding="utf-8"))
    resources = {resource["name"]: resource for resource in package["resources"]}
    fields = {field["name"]: field["type"] for field in resources[name]["schema"]["fields"]}
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


def hot_score(videos: pd.DataFrame) -> "pd.Series[Any]":
    """Return likes + 4 comments + 3 collects + 8 shares; unknown if one of them is."""
    likes, comments, collects, shares = (videos[name] for name in COUNTS)
    return likes + 4 * comments + 3 * collects + 8 * shares


def ranked(videos: pd.DataFrame, parameters: dict[str, Any]) -> pd.DataFrame:
    """Return videos in the order of the job: unknown last, ties by the length of the id, the id."""
    is_viral = videos["digg_count"] >= parameters["viral_threshold"]
    # Without likes a video is not known to be viral, so it is not.
    videos = videos.assign(hot_score=hot_score(videos), is_viral=is_viral.fillna(value=False))
    if parameters["viral_only"]:
        videos = videos[videos["is_viral"]]
    # The publication time as stated, else the time in the video's id.
    in_id = (videos["created_at"] - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(seconds=1)
    published = videos["create_time"].fillna(in_id.astype("Int64"))
    values = {"hot_score": videos["hot_score"], "latest": published, "oldest": -published}
    order = parameters["sort_by"]
    value = values[order] if order in values else videos[f"{order}_count"]
    # Ids are text: by length and then by text is their numerical order.
    videos = videos.assign(value=value, length=videos["aweme_id"].str.len())
    videos = videos.sort_values(
        ["value", "length", "aweme_id"], ascending=[False, True, True], na_position="last"
    )
    return videos.head(parameters["count"]).assign(rank=lambda top: range(1, len(top) + 1))


def plots_of(
    top: pd.DataFrame, accounts: pd.DataFrame, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Return the numbers of the plots: of videos with a known time, and of creators with likes."""
    in_id = (top["created_at"] - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(seconds=1)
    dated = top[top["create_time"].fillna(in_id.astype("Int64")).notna()]
    likes = dated["digg_count"].dropna().sort_values(ascending=False)
    held = accounts["linked_digg_count"].dropna().sort_values(ascending=False).cumsum()
    half = None
    if len(held) and held.iloc[-1] > 0:
        count = int((2 * held < held.iloc[-1]).sum()) + 1
        share = int(held.iloc[count - 1]) / int(held.iloc[-1])
        percent = 100 if share == 1 else min(99, round(100 * share))
        half = {"creators": count, "of": len(held), "share_percent": percent}
    return {
        "dated_count": len(dated),
        "undated_count": len(top) - len(dated),
        "liked_count": len(likes),
        "likes_of_dated": int(likes.sum()),
        "viral_count": int((likes >= parameters["viral_threshold"]).sum()),
        "most_likes": [int(number) for number in likes.head(3)],
        "likes_of_creators": int(held.iloc[-1]) if len(held) else 0,
        "half_of_likes": half,
    }


def accounts_of(videos: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """Return the accounts of confirmed videos with their sums, most likes first."""
    groups = videos.dropna(subset="sec_uid").groupby("sec_uid")
    sums = groups[COUNTS].sum(min_count=1).add_prefix("linked_")
    accounts = sums.assign(linked_video_count=groups.size()).reset_index()
    likes = accounts["linked_digg_count"].fillna(0)
    accounts = accounts.assign(likes=likes).sort_values(
        ["likes", "sec_uid"], ascending=[False, True]
    )
    # A profile may not have been read: the account stays, its numbers are unknown.
    columns = ["sec_uid", "follower_count", "total_favorited", "aweme_count"]
    return accounts.drop(columns="likes").merge(profiles[columns], on="sec_uid", how="left")


def rejected_of(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the best pair of each candidate that no pair accepted, most credible first."""
    accepted = pairs.loc[pairs["verdict"].isin(["confirmed", "variant"]), "candidate_aweme_id"]
    pairs = pairs[(pairs["verdict"] == "rejected") & ~pairs["candidate_aweme_id"].isin(accepted)]
    explained = pairs["observation"].notna() | pairs["shared_part"].notna()
    pairs = pairs.assign(explained=explained, points=pairs["score"].fillna(0))
    # Equals have the order of the report: by candidate, best score first.
    pairs = pairs.sort_values(
        ["candidate_aweme_id", "score", "comparison_id"], ascending=[True, False, True]
    ).sort_values(["explained", "points"], ascending=False, kind="stable")
    return pairs.drop_duplicates("candidate_aweme_id").drop(columns=["explained", "points"])


def list_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dictionaries of plain values; unknown is None."""
    # pandas' own missing values are no JSON.
    plain = frame.astype(object)
    plain = plain.where(plain.notna(), None)
    for name in frame.select_dtypes(["datetime", "datetimetz"]):
        plain[name] = plain[name].map(str, na_action="ignore")
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def coverage_of(own: str, scan: str) -> dict[str, Any]:
    """Return what a job read and what it may have missed.

    `own`: the job with the result. `scan`: the job whose scan it is the result of.
    """
    coverage, missing = rows_of("marts_coverage", scan), rows_of("results_not_reached", own)
    related = rows_of("results_videos", own).query("result_list == 'search_related'")
    levels = related["search_relevance_level"]
    related = related.assign(hot_score=hot_score(related))
    tables = {
        "sources": coverage,
        "estimates": rows_of("marts_coverage_estimates", scan),
        "audit": rows_of("marts_random_audits", scan),
        "decisions": rows_of("results_source_decisions", own),
        "list_shares": rows_of("results_list_shares", own),
        "search_terms": rows_of("results_search_terms", own),
        "audited_videos": rows_of("results_audited_videos", own),
    }
    return {
        "requests_used": int(coverage["requests"].sum()),
        "not_reached": missing["surface"].value_counts().to_dict(),
        **{
            name: list_of(frame.drop(columns=["job_id", "committed_at"], errors="ignore"))
            for name, frame in tables.items()
        },
        "search_related": {
            "returned_count": len(related),
            "by_relevance": levels.value_counts().to_dict(),
            "high_relevance_count": int(
                levels.isin(["exact_title", "music_id_corroborated"]).sum()
            ),
            "videos": list_of(related[["aweme_id", *COUNTS, "hot_score"]]),
        },
    }


def videos_of(own: str, scan: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the confirmed videos, variants and rejected candidates of a scan, with evidence."""
    videos, pairs = rows_of("results_videos", own), rows_of("marts_audio_comparisons", scan)
    confirmed = videos.query("result_list == 'confirmed'")
    variants = videos.query("result_list == 'variants'")
    top, changed = ranked(confirmed, parameters), ranked(variants, parameters)
    # A candidate whose outcome changed during the scan has several rows; the last one counts.
    candidates = rows_of("marts_candidates", scan).sort_values("committed_at")
    candidates = candidates.drop_duplicates("aweme_id", keep="last")
    accounts = accounts_of(confirmed, rows_of("marts_account_summaries", scan))
    used = pd.DataFrame({"comparison_id": top["comparison_id"].dropna().unique()})
    rejected = rejected_of(pairs)
    related = videos.query("result_list == 'search_related'")
    return {
        "confirmed_count": len(confirmed),
        "confirmed_by_link_type": confirmed["link_type"].value_counts().to_dict(),
        "totals_of_confirmed": {name: int(confirmed[name].sum()) for name in COUNTS},
        "candidate_count": len(candidates),
        "candidates_by_outcome": candidates["outcome"].value_counts().to_dict(),
        "not_confirmed_count": len(candidates) - len(confirmed),
        "account_count": len(accounts),
        "variant_count": len(variants),
        "variants_by_kind": variants["kind"].value_counts().to_dict(),
        "version_count": int((videos["result_list"] == "versions").sum()),
        "compared_pair_count": len(pairs),
        "rejected_count": len(rejected),
        "related_in_ranking_count": int(related["aweme_id"].isin(top["aweme_id"]).sum()),
        "plots": plots_of(top, accounts, parameters),
        "ranking": list_of(top[[*RANKED, "link_type"]]),
        "accounts": list_of(accounts),
        "variants": list_of(
            changed[[*RANKED, "kind", "comparison_id"]].merge(pairs, on="comparison_id")
        ),
        "pairs": list_of(used.merge(pairs, on="comparison_id")),
        "rejected": list_of(rejected),
    }


def numbers_of(job: "pd.Series[Any]") -> dict[str, Any]:
    """Return the numbers of the report of a job, a row of `results_jobs`."""
    # The two ids differ if the job reused the stored result of an earlier scan.
    own, scan = job["job_id"], job["scan_job_id"]
    parameters = json.loads(job["parameters"])
    facts = {name: job[name] for name in ("job_id", "kind", "algorithm")}
    numbers = {**facts, "parameters": parameters, **coverage_of(own, scan)}
    return numbers if job["kind"] != "scan" else numbers | videos_of(own, scan, parameters)


if __name__ == "__main__":
    beginning = sys.argv[1] if len(sys.argv) > 1 else ""
    jobs = load("results_jobs")
    chosen = [job for _, job in jobs.iterrows() if job["job_id"].startswith(beginning)]
    print(json.dumps([numbers_of(job) for job in chosen], indent=2, ensure_ascii=False))
