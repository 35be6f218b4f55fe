"""A search by a song's name alone: a job that relates works by words and confirms nothing."""

from dagster import DagsterRunStatus

from pipelines.domain.jobs import keyword_subject
from pipelines.domain.parameters import fingerprint, scan_parameters
from tests.stage import Stage
from warehouse.control import NewJob
from warehouse.queries import read_result_document


def test_a_name_is_searched_in_scenes_and_nothing_is_confirmed(stage: Stage) -> None:
    stage.start_platform(seed=5, size=0.1)
    stage.start_worker()
    title = stage.world("/_world/tracks")["tracks"][0]["title"]
    values = scan_parameters({"candidate_limit": 20})
    subject = keyword_subject(title)
    new = NewJob(
        kind="keyword_search", input=title, target=subject, music_id=None,
        parameters=values.to_document(), scan_key=None, origin="cli", priority=100,
        fingerprint=fingerprint(subject, "sandbox", "public-graph", values),
    )  # fmt: skip
    job = stage.ended(stage.control.create_or_join(new)[0].job_id)
    assert (job.status, job.error) == ("completed", None)

    stage.engine.refresh()
    document = read_result_document(stage.engine, job.job_id)
    assert document is not None
    assert (document["keyword"], document["music"], document["music_id"]) == (title, None, None)
    assert (document["confirmed_count"], document["unique_account_count"]) == (0, 0)
    related = document["search_related"]
    assert related["high_relevance_count"] > 0
    assert all(title in term["term"] for term in related["pagination"]["terms"])
    assert any(video["statistics_complete"] for video in related["aweme_list"])
    with stage.instance() as instance:
        run = instance.get_run_by_id(job.job_id)
    assert run is not None
    assert run.status == DagsterRunStatus.SUCCESS
    assert run.tags["dagster/partition"] == subject
