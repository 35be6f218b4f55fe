"""Desktop pages carry a video in the platform's own three forms, and our parsers read each."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from pipelines.platform.parsers.pages import parse_video_page
from pipelines.platform.parsers.videos import ParseContext
from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.content.tables import VideoState
from warehouse.records.videos import Video

from .conftest import Sandbox

pytestmark = pytest.mark.full

WEB = "www.vidplat.localhost"
DESKTOP_FORMS = ("videoDetail", "%2241%22", "__pace_f")
DESKTOP = ParseContext(
    surface="web_video_page", observed_at=datetime.now(UTC), link_of=str, address=f"http://{WEB}/"
)


def test_a_desktop_page_has_one_of_the_three_forms_and_each_is_read(sandbox: Sandbox) -> None:
    works = [
        work for work in sandbox.works(state=VideoState.PUBLIC)
        if not is_withheld(work, has_cookie=True, page="desktop")
    ][:40]  # fmt: skip
    forms = Counter[str]()
    for work in works:
        page = sandbox.get(f"/video/{work.aweme_id}", host=WEB, cookie="ttwid=1").text
        forms[next(mark for mark in DESKTOP_FORMS if mark in page)] += 1
        video = parse_video_page(page.encode(), work.aweme_id, DESKTOP)
        assert isinstance(video, Video)
        assert video.sound is not None
        assert (video.aweme_id, video.desc) == (work.aweme_id, sandbox.world.caption(work))
        assert (video.create_time, video.is_top) == (work.create_time, work.is_pinned)
        assert video.statistics.digg_count == work.digg_count
        assert video.media_type == ("photo" if work.is_photo else "video")
        assert video.sound.urls or video.is_silent
        assert all(url.startswith("http://") for url in video.sound.urls)
    assert set(forms) == set(DESKTOP_FORMS)
    modal = sandbox.get(f"/discover?modal_id={works[0].aweme_id}", host=WEB, cookie="ttwid=1")
    assert works[0].aweme_id in modal.text
