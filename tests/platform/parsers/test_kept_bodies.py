"""Archived bodies are parsed again as the live answer was: by surface, by what was asked, and with
the refusals of the platform named.
"""

from typing import Any

import pytest

from pipelines.platform.mobileapp.screens import Item, load_app, pack_video
from pipelines.platform.profiles import load_profile
from pipelines.platform.reparse import ArchivedBody, BodyParser
from tests.platform.mobileapp.test_app_screens import WORK, button, dump
from tests.platform.shape_answers import SEEN_AT, read_index
from warehouse.records.errors import (
    PageWithoutDataError,
    StructureChangedError,
    VerificationDemandedError,
)
from warehouse.records.videos import Account, Author, Video

PROFILE = load_profile("sandbox", sandbox_port=8790)
AUTHOR = Author(sec_uid="MS4wLjABAAAAq7Rk2dV0")


def kept_shape(file: str, surface: str) -> ArchivedBody:
    shape = next(one for one in read_index() if one.file == file)
    return kept(surface, shape.body, entity_id=shape.asked)


def kept(surface: str, body: bytes, **over: Any) -> ArchivedBody:
    values: dict[str, Any] = {
        "entity_id": "7361234567890123456", "observed_at": SEEN_AT, "status": 200,
        "content_type": None, "path": "/x",
    }  # fmt: skip
    return ArchivedBody(surface=surface, body=body, **values | over)


def work_of_the_app() -> ArchivedBody:
    app = load_app("sandbox")
    assert app is not None
    item = Item(
        aweme_id="7568123456789012345", work=dump(*WORK, button("未点赞，喜欢9999，按钮")), share=""
    )
    body = pack_video(
        item, layout=app.layouts[0].name, music_id="7361234567890123456", account=AUTHOR
    )
    return kept("app_work", body, entity_id=item.aweme_id)


def test_a_user_page_without_a_place_in_a_list_is_the_account() -> None:
    page = kept_shape("user_account/by_its_path.html", "user_page")
    account = BodyParser(PROFILE).read(page)
    assert isinstance(account, Account)
    assert (account.sec_uid, account.surface) == (page.entity_id, "user_page")


def test_a_page_without_data_that_says_why_is_that_refusal() -> None:
    page = kept_shape("video_page/captcha_title_on_shell.html", "video_page")
    with pytest.raises(VerificationDemandedError) as met:
        BodyParser(PROFILE).read(page)
    assert isinstance(met.value.__cause__, PageWithoutDataError | StructureChangedError)


def test_a_page_without_data_that_says_nothing_keeps_its_own_error() -> None:
    page = kept("video_page", b"<html><title>one moment</title></html>")
    with pytest.raises(StructureChangedError, match="no data container") as met:
        BodyParser(PROFILE).read(page)
    assert met.value.__cause__ is None


def test_a_video_that_the_app_showed_is_read_with_its_counts_and_account() -> None:
    video = BodyParser(PROFILE).read(work_of_the_app())
    assert isinstance(video, Video)
    assert (video.aweme_id, video.surface, video.author) == (
        "7568123456789012345", "app_work", AUTHOR,
    )  # fmt: skip
    assert video.music is not None
    assert video.music.music_id == "7361234567890123456"
    assert video.statistics.digg_count == 9999


def test_a_profile_without_an_app_refuses_what_an_app_showed() -> None:
    parser = BodyParser(PROFILE.model_copy(update={"name": "mine"}))
    with pytest.raises(StructureChangedError, match="has no app") as met:
        parser.read(work_of_the_app())
    assert met.value.surface == "app_work"
