"""A live check that begins with a link, whose folder names nobody."""

import json
import re

import httpx2
import pytest

from pipelines.captures.recorded.folder import RecordedBody
from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.captures.recorded.shape_files import pseudonymised
from pipelines.doctor.live_check import run
from pipelines.doctor.live_check.round import LiveCheckTimes
from pipelines.doctor.live_check.run import DOCUMENT, LiveCheckRequest, run_live_check
from pipelines.platform.profiles import load_profile
from tests.integration.doctor.live_platform import PATIENCE_S, LivePlatform, outcomes
from warehouse.records.errors import InvalidParameterError


def request_of(live: LivePlatform, link: str, folder: str = "linked") -> LiveCheckRequest:
    settings = live.settings()
    return LiveCheckRequest(
        settings=settings,
        profile=load_profile(settings.profile, sandbox_port=live.port),
        folder=live.place / folder,
        link=link,
        is_pseudonymised=True,
        times=LiveCheckTimes.within(PATIENCE_S),
    )


def test_the_report_of_a_linked_video_names_it_by_a_pseudonym_alone(live: LivePlatform) -> None:
    track = httpx2.get(f"{live.world}/tracks?limit=1&counts=0").json()["tracks"][0]
    aweme_id = track["aweme_id"]
    profile = load_profile("sandbox", sandbox_port=live.port)
    link = profile.address("public_video", aweme_id=aweme_id)
    result = run_live_check(request_of(live, link))
    assert outcomes(result.report)["video_page"] == "works"
    assert aweme_id in "".join(one["target"] for one in live.requests())
    entities = {one["surface"]: one["entity_id"] for one in result.report["surfaces"]}
    assert entities["video_page"] not in {None, "", aweme_id}
    files = [path for path in (live.place / "linked").rglob("*") if path.is_file()]
    assert json.loads((live.place / "linked" / DOCUMENT).read_text("utf-8"))["left_out"] == []
    named = re.compile(rf"(?<!\d){aweme_id}(?!\d)".encode())  # ids of log lines hold more digits
    assert [path.name for path in files if named.search(path.read_bytes())] == []


def test_a_body_that_cannot_be_made_nameless_is_left_out_and_named(
    live: LivePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide = pseudonymised

    def hide_all_but_songs(
        body: RecordedBody, pseudonymiser: BodyPseudonymiser
    ) -> RecordedBody | None:
        return None if body.surface == "music_info" else hide(body, pseudonymiser)

    monkeypatch.setattr(run, "pseudonymised", hide_all_but_songs)
    result = live.check("left", is_pseudonymised=True)
    assert result.left_out == ["music_info"]
    assert result.report["left_out"] == ["music_info"]
    kept = json.loads((live.place / "left" / DOCUMENT).read_text("utf-8"))
    assert kept["left_out"] == ["music_info"]


def test_a_text_without_a_link_is_refused_before_anything_is_asked(live: LivePlatform) -> None:
    with pytest.raises(InvalidParameterError, match="holds no link of the platform"):
        run_live_check(request_of(live, "no link at all"))
    assert live.requests() == []
    assert not (live.place / "linked").exists()
