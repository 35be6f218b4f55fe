"""From what became of surfaces and machine to words, advice and exit status."""

from datetime import UTC, datetime
from typing import Any

import pytest

from pipelines.doctor.documents import CheckResult, summarise_health, to_surface_documents
from pipelines.doctor.probes.table import PROBE_BY_SURFACE
from warehouse.records import errors
from warehouse.records.health import (
    ENDPOINTS,
    OUTCOME_LABELS,
    SURFACE_USES,
    SurfaceHealth,
    advice_for,
    find_affected_endpoints,
    outcome_of,
)

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
WELL = CheckResult("disk", "ok", "1,000 MB free")


def health(surface: str, outcome: Any = "works", **more: Any) -> SurfaceHealth:
    return SurfaceHealth(surface=surface, outcome=outcome, observed_at=NOW, **more)


def test_every_probe_has_its_use_and_every_use_its_probe() -> None:
    assert list(SURFACE_USES) == list(PROBE_BY_SURFACE)


def test_every_use_names_known_endpoints_and_another_surface_that_is_probed() -> None:
    named = {number for use in SURFACE_USES.values() for number in use.endpoints}
    assert named == set(ENDPOINTS)
    assert {use.other for use in SURFACE_USES.values()} - {None} <= set(SURFACE_USES)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (errors.StructureChangedError, "changed"),
        (errors.UnreachableError, "unreachable"),
        (errors.BudgetSpentError, "not_asked"),
        (errors.ForbiddenError, "refused"),
        (errors.VerificationDemandedError, "refused"),
        (errors.ChartUnavailableError, "refused"),
        (errors.InvalidMusicInputError, "refused"),
    ],
)
def test_an_error_has_one_outcome(error: type[errors.SametrackError], outcome: str) -> None:
    assert outcome_of(error.type) == outcome
    assert outcome in OUTCOME_LABELS


def upstream_types(root: type[errors.SametrackError]) -> set[str]:
    return {root.type}.union(*(upstream_types(below) for below in root.__subclasses__()))


@pytest.mark.parametrize("kind", sorted(upstream_types(errors.UpstreamError)))
def test_every_way_to_say_no_comes_with_advice(kind: str) -> None:
    assert advice_for(health("music_info", outcome_of(kind), error_type=kind))


def test_advice_for_an_unprobed_surface_names_its_setting() -> None:
    advice = advice_for(health("user_info", "not_asked", reason="nothing_to_ask"))
    assert advice is not None
    assert "CANARY_SEC_UID" in advice


def test_working_surface_needs_no_advice() -> None:
    assert advice_for(health("music_info", reason="canary_unavailable")) is None


def test_no_endpoint_suffers_while_another_source_works() -> None:
    found = [health("video_page", "refused"), health("slides_info"), health("media", "changed")]
    assert find_affected_endpoints(found) == {
        "video_page": (),
        "media": SURFACE_USES["media"].endpoints,
    }


def test_endpoints_suffer_when_both_sources_fail() -> None:
    found = [health("user_posts", "refused"), health("user_page", "unreachable")]
    assert find_affected_endpoints(found)["user_posts"] == SURFACE_USES["user_posts"].endpoints


@pytest.mark.parametrize(
    ("findings", "surfaces", "code"),
    [
        ([WELL], [health("music_info")], 0),
        ([CheckResult("worker", "warn", "none")], [health("music_info")], 0),
        ([CheckResult("disk", "fail", "full")], [health("music_info", "refused")], 1),
        ([WELL], [health("music_info"), health("media", "refused")], 3),
        ([WELL], [health("music_info"), health("media", "changed")], 3),
        ([WELL], [health("music_info", "unreachable"), health("media", "not_asked")], 3),
        ([WELL], [health("music_info"), health("media", "not_asked")], 4),
    ],
)
def test_the_exit_status_tells_machine_from_platform(
    findings: list[CheckResult], surfaces: list[SurfaceHealth], code: int
) -> None:
    assert summarise_health(findings, surfaces, is_chosen=True).exit_code == code


def test_no_profile_is_told_apart_from_no_wish_to_ask() -> None:
    assert summarise_health([WELL], [], is_chosen=False).exit_code == 2
    assert summarise_health([WELL], [], is_chosen=True, wants_surfaces=False).exit_code == 0


def test_a_document_says_when_a_surface_last_worked() -> None:
    found = [health("music_info", "refused", error_type="upstream_empty"), health("media")]
    before = datetime(2026, 1, 30, tzinfo=UTC)
    documents = to_surface_documents(found, last_worked={"music_info": before, "media": before})
    assert [entry["last_worked_at"] for entry in documents] == [
        "2026-01-30T00:00:00Z", "2026-01-31T12:00:00Z",
    ]  # fmt: skip
