"""What a screen shows, and which one it is: values in, values out."""

from typing import Any
from xml.sax.saxutils import quoteattr

import pytest

from pipelines.platform.mobileapp.screens import (
    App,
    Item,
    Layout,
    TreeError,
    kind_of,
    load_app,
    pack_video,
    parse_app_page,
    parse_app_track,
    parse_app_video,
    parse_tree,
    read_video,
)
from pipelines.platform.parsers.videos import ParseContext
from sandbox.server.device.screens import rounded
from tests.platform.shape_answers import SEEN_AT
from warehouse.records.errors import InvalidParameterError, StructureChangedError
from warehouse.records.videos import Video

SEEN = ParseContext(surface="music_app", observed_at=SEEN_AT, link_of=str)
HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"


def node(name: str, *, text: str = "", desc: str = "", kind: str = "FrameLayout") -> str:
    return (
        f'<node resource-id="localhost.vidplat.app:id/{name}" class="android.widget.{kind}" '
        f'text={quoteattr(text)} content-desc={quoteattr(desc)} bounds="[0,10][100,30]" />'
    )


def button(desc: str) -> str:
    return node("", desc=desc, kind="LinearLayout")


def dump(*nodes: str) -> str:
    return f"{HEAD}{''.join(nodes)}</hierarchy>"


@pytest.fixture(scope="module")
def app() -> App:
    found = load_app("sandbox")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def layout(app: App) -> Layout:
    return app.layouts[0]


WORK = (
    node("feed_item"), node("title", text="@somebody"), node("desc", text="a caption #tag"),
    button("评论2482，按钮"), button("未选中，收藏920，按钮"), button("分享1.0万，按钮"),
)  # fmt: skip


def parsed(app: App, *nodes: str) -> Video:
    item = Item(aweme_id="1", work=dump(*nodes), share="")
    body = pack_video(item, layout=app.layouts[0].name, music_id="2")
    return parse_app_video(body, app=app, context=SEEN)


@pytest.mark.parametrize(
    ("likes", "count", "is_exact"),
    [
        ("未点赞，喜欢1.8万，按钮", 18_000, False),
        ("未点赞，喜欢12.3K，按钮", 12_300, False),
        ("已点赞，喜欢1.2亿，按钮", 120_000_000, False),
        ("未点赞，喜欢，按钮", None, False),
    ],
)
def test_counts_are_read_as_the_app_writes_them(
    likes: str, count: int | None, is_exact: bool, app: App
) -> None:
    video = parsed(app, *WORK, button(likes))
    assert tuple(video.statistics.counts().values()) == (count, 2482, 920, 10_000)
    assert video.is_exact is is_exact
    assert video.desc == "a caption #tag"


def test_the_screen_of_a_video_names_its_author(layout: Layout) -> None:
    assert read_video(parse_tree(dump(*WORK)), layout)["nickname"] == "somebody"


def test_counts_below_ten_thousand_are_exact(app: App) -> None:
    video = parsed(app, *WORK[:-1], button("未点赞，喜欢9999，按钮"), button("分享7，按钮"))
    assert tuple(video.statistics.counts().values()) == (9999, 2482, 920, 7)
    assert video.is_exact


@pytest.mark.parametrize(
    ("nodes", "kind"),
    [
        ((node("music_detail"),), "track"),
        (WORK, "work"),
        ((*WORK, node("share_panel")), "share"),
        ((*WORK, node("login_title", text="登录")), "login"),
        ((*WORK, node("captcha_title")), "verification"),
        ((*WORK, node("dialog_close")), "dialog"),
        ((node("profile"),), "account"),
        ((node("loading"),), "loading"),
        ((node("elsewhere"),), "other"),
    ],
)
def test_a_screen_is_told_by_its_sign_and_what_stands_in_the_way_comes_first(
    nodes: tuple[str, ...], kind: str, layout: Layout
) -> None:
    assert kind_of(parse_tree(dump(*nodes)), layout) == kind


def test_no_word_that_a_person_writes_is_taken_for_a_sign() -> None:
    real = load_app("public")
    assert real is not None
    nodes = (
        node("desc", text="我知道了"), button("评论1，按钮"), node("title", text="复制链接"),
    )  # fmt: skip
    tree = parse_tree(dump(*nodes))
    assert kind_of(tree, real.layouts[0]) == "work"


def test_truncated_screen_dump_and_one_with_declarations_are_refused() -> None:
    whole = dump(*WORK)
    for broken in (whole[: len(whole) // 2], "", "<x/>", f"<!DOCTYPE a [<!ENTITY b 'c'>]>{whole}"):
        with pytest.raises(TreeError):
            parse_tree(broken)


def test_a_node_is_tapped_in_its_middle_and_known_without_its_package() -> None:
    (only,) = parse_tree(dump(node("title", text="a & <b>")))
    assert (only.id, only.kind, only.text, only.centre) == (
        "title",
        "FrameLayout",
        "a & <b>",
        (50, 20),
    )


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, ""), (9_999, "9999"), (12_345, "1.2万"), (123_456_789, "1.2亿")],
)
def test_the_scripted_app_rounds_as_the_real_one(count: int, shown: str) -> None:
    assert rounded(count) == shown


def test_a_body_of_a_layout_that_is_gone_is_a_changed_structure(app: App) -> None:
    body = b'{"layout": "of-2019", "items": [], "cursor": 0, "has_more": false}'
    with pytest.raises(StructureChangedError, match="layout"):
        parse_app_page(body, app=app, context=SEEN)
    with pytest.raises(StructureChangedError):
        parse_app_track(b"no json", music_id="1", app=app, context=SEEN)


def test_a_version_gets_the_first_layout_that_fits_it(app: App, layout: Layout) -> None:
    assert app.layout_for("31.2.0") is layout
    assert app.layout_for("32.0.0") is None
    real = load_app("public")
    assert real is not None
    assert [one.is_verified for one in real.layouts] == [False]
    assert real.is_simulated is False


def test_a_profile_of_ones_own_has_its_app_beside_it(tmp_path: Any) -> None:
    profile = tmp_path / "mine.toml"
    assert load_app(str(profile)) is None
    (tmp_path / "mine.app.toml").write_text("package = 1")
    with pytest.raises(InvalidParameterError, match=r"mine\.app\.toml"):
        load_app(str(profile))
