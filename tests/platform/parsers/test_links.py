"""Links are found in pasted prose, whatever stands around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.platform.parsers.links import LinkHosts, LinkTarget, find_target
from pipelines.platform.profiles import PlatformProfile, load_profile

ID = "7361234567890123456"
SEC = "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE"
SANDBOX = load_profile("sandbox", sandbox_port=8790)
SHORT = "http://v.vidplat.localhost/iRx_9-kP/"


@pytest.mark.parametrize(
    ("path", "kind", "found"),
    [
        (f"share.vidplat.localhost/share/video/{ID}/", "video", ID),
        (f"share.vidplat.localhost/share/note/{ID}/?x=1", "video", ID),
        (f"share.vidplat.localhost/share/slides/{ID}", "video", ID),
        (f"share.vidplat.localhost/share/music/{ID}/", "music", ID),
        (f"share.vidplat.localhost/share/music/?music_id={ID}", "music", ID),
        (f"share.vidplat.localhost/share/challenge/{ID}/", "hashtag", ID),
        (f"share.vidplat.localhost/share/challenge/detail/{ID}", "hashtag", ID),
        (f"share.vidplat.localhost/share/user/{SEC}", "user", SEC),
        (f"share.vidplat.localhost/share/user/98765?u=1&sec_uid={SEC}", "user", SEC),
        (f"share.vidplat.localhost/share/user/98765?sec_user_id={SEC}", "user", SEC),
        (f"share.vidplat.localhost/share/mix/{ID}/", "mix", ID),
        (f"share.vidplat.localhost/share/trends/?trends_id={ID}", "trends", ID),
        (f"share.vidplat.localhost/share/challenge/?ch_id={ID}", "hashtag", ID),
        (f"share.vidplat.localhost/share/story/{ID}/", "video", ID),
        (f"share.vidplat.localhost/share/item/{ID}/", "video", ID),
        (f"share.vidplat.localhost/share/mix/detail/{ID}/", "mix", ID),
        (f"share.vidplat.localhost/share/user/98765?u=1&amp;sec_uid={SEC}", "user", SEC),
        (f"share.vidplat.localhost/share/trends/?trends_id=99999&music_id={ID}", "music", ID),
        (f"www.vidplat.localhost/collection/{ID}", "mix", ID),
        (f"www.vidplat.localhost/hashtag/{ID}", "hashtag", ID),
        (f"www.vidplat.localhost/article/{ID}", "article", ID),
        (f"music.vidplat.localhost/songs/share/track?track_id={ID}", "service_track", ID),
        (f"music.vidplat.localhost/songs/share/album?album_id={ID}&x=1", "service_album", ID),
        (f"m.vidplat.localhost/share/video/{ID}?region=CN&mid=1", "video", ID),
        (f"m.vidplat.localhost/share/music/{ID}", "music", ID),
        (f"m.vidplat.localhost/share/user/98765?sec_uid={SEC}&u=1", "user", SEC),
        (f"www.vidplat.localhost/video/{ID}", "video", ID),
        (f"www.vidplat.localhost/note/{ID}", "video", ID),
        (f"www.vidplat.localhost/music/{ID}", "music", ID),
        (f"www.vidplat.localhost/user/{SEC}", "user", SEC),
        (f"www.vidplat.localhost/challenge/detail/{ID}", "hashtag", ID),
        (f"www.vidplat.localhost/discover?modal_id={ID}", "video", ID),
        (f"www.vidplat.localhost/?modal_id={ID}", "video", ID),
        (f"www.vidplat.localhost/jingxuan?modal_id={ID}&type=general", "video", ID),
        (f"www.vidplat.localhost/search/words?aid=1&modal_id={ID}", "video", ID),
        (f"www.vidplat.localhost/music/{SEC}?modal_id={ID}", "video", ID),
        (f"www.vidplat.localhost/user/self?modal_id={ID}", "video", ID),
        (f"featured.vidplat.localhost/m/video/{ID}", "video", ID),
        (f"www.vidplat.localhost/m/video/{ID}", "video", ID),
        (f"WWW.VidPlat.LocalHost:8790/video/{ID}", "video", ID),
    ],
)
def test_every_form_of_link_is_read(
    path: str, kind: str, found: str, profile: PlatformProfile
) -> None:
    for scheme in ("https://", "http://", "HTTPS://", ""):
        target = profile.find_target(scheme + path)
        assert target == LinkTarget(kind, found), scheme  # type: ignore[arg-type]  # of the table


@pytest.mark.parametrize(
    "prose",
    [
        "7.43 复制打开看看【某某创作的《晚风》】https://v.vidplat.localhost/iRx_9-kP/，快来听听！",
        "https://v.vidplat.localhost/iRx_9-kP/🌊🌊",
        "听这个：https://v.vidplat.localhost/iRx_9-kP/。",
        "(https://v.vidplat.localhost/iRx_9-kP)",
        "看看https://v.vidplat.localhost/iRx_9-kP/ 05/12 h@o.qr",
        "v.vidplat.localhost/iRx_9-kP/",
        "https://other.example/x https://v.vidplat.localhost/iRx_9-kP/",
        "https://v.vidplat.localhost/iRx_9-kP/！！！\nsecond line",
        "See https://v.vidplat.localhost/iRx_9-kP.",
        "'https://v.vidplat.localhost/iRx_9-kP', and so on",
        "<https://v.vidplat.localhost/iRx_9-kP/>",
    ],
)
def test_short_link_is_found_in_prose(prose: str, profile: PlatformProfile) -> None:
    assert profile.find_target(prose) == LinkTarget("short", "iRx_9-kP", SHORT)


@pytest.mark.parametrize(
    "foreign",
    [
        "nothing here",
        f"https://evil.example/share/video/{ID}/",
        f"https://www.vidplat.localhost.evil.example/video/{ID}",
        f"https://evil-www.vidplat.localhost/video/{ID}",
        f"https://www.vidplat.localhost@evil.example/video/{ID}",
        f"https://user@www.vidplat.localhost/video/{ID}",
        f"https://www.vidplat.localhost\\@evil.example/video/{ID}",
        f"javascript://www.vidplat.localhost/video/{ID}",
        "https://www.vidplat.localhost/video/123",
        "https://www.vidplat.localhost/video/" + "1" * 31,
        "https://www.vidplat.localhost/video/１２３４５６７",
        "https://www.vidplat.localhost/video/",
        "https://www.vidplat.localhost/user/98765432109",
        "https://v.vidplat.localhost/",
        "https://share.vidplat.localhost/share/trends/?trends_id=abc",
        f"https://www.vidplat.localhost/discover?previous_page=web_video_404_link&modal_id={ID}",
    ],
)
def test_foreign_link_has_no_target(foreign: str, profile: PlatformProfile) -> None:
    assert profile.find_target(foreign) is None


LONG = "x" * 64
HOSTS = LinkHosts(
    scheme="https",
    share=("a.example",),
    short=("s.example",),
    gone_query="gone=1",
    service=("m.example",),
    service_short=("q.example",),
    chart=("c.example",),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # where a link may begin and what may stand before its path
        (f"xa.example/video/{ID}", None),
        (f"x.a.example/video/{ID}", None),
        (f"-a.example/video/{ID}", None),
        (f"user@a.example/video/{ID}", None),
        (f"_a.example/video/{ID}", None),
        (f"ftp://a.example/video/{ID}", None),
        (f"see:a.example/video/{ID}", LinkTarget("video", ID)),
        (f"a.example:8443/video/{ID}", LinkTarget("video", ID)),
        (f"a.example:123456/video/{ID}", None),
        (f"a.example:80:80/video/{ID}", None),
        # the ids: 5 to 30 digits, and codes of 4 to 64 signs
        ("a.example/video/12345", LinkTarget("video", "12345")),
        ("a.example/video/1234", None),
        (f"a.example/video/{'1' * 30}", LinkTarget("video", "1" * 30)),
        (f"a.example/video/{'1' * 31}", None),
        ("s.example/abc", None),
        ("s.example/abcd", LinkTarget("short", "abcd", "https://s.example/abcd/")),
        (f"s.example/{LONG}/y", LinkTarget("short", LONG, f"https://s.example/{LONG}/")),
        (f"s.example/{LONG}x", None),
        ("s.example/ab.cd", None),
        # what a path may leave out or put before its noun
        (f"a.example//share//video//{ID}//", LinkTarget("video", ID)),
        (f"a.example/m/note/{ID}.", LinkTarget("video", ID)),
        (f"a.example/share/m/video/{ID}", None),
        (f"a.example/other/video/{ID}", None),
        (f"a.example/video/detail/{ID}", None),
        (f"a.example/video/{ID}/99999", LinkTarget("video", ID)),
        (f"a.example/challenge/{ID}", LinkTarget("hashtag", ID)),
        (f"a.example/challenge/detail/{ID}", LinkTarget("hashtag", ID)),
        ("a.example/challenge/detail", None),
        (f"a.example/hashtag/detail/{ID}", LinkTarget("hashtag", ID)),
        (f"a.example/collection/detail/{ID}", LinkTarget("mix", ID)),
        (f"a.example/gallery/{ID}", LinkTarget("video", ID)),
        (f"a.example/live/{ID}", LinkTarget("live", ID)),
        (f"a.example/slides/{ID}:", LinkTarget("video", ID)),
        # what a query may name
        (f"a.example/?modal_id={ID}.", LinkTarget("video", ID)),
        ("a.example/?modal_id=1234", None),
        (f"a.example/music?music_id={ID}&music_id=99999", LinkTarget("music", ID)),
        (f"a.example/music?ch_id={ID}", None),
        (f"a.example/music/99999?music_id={ID}", LinkTarget("music", "99999")),
        (f"a.example/challenge?ch_id={ID}", LinkTarget("hashtag", ID)),
        (f"a.example/mix?mix_id={ID}", LinkTarget("mix", ID)),
        (f"a.example/mix?trends_id={ID}", None),
        (f"a.example/trends?trends_id={ID}", LinkTarget("trends", ID)),
        ("a.example/trends?trends_id=1234", None),
        (f"a.example/video/{ID}?gone=1", None),
        (f"a.example/video/{ID}?gone=2", LinkTarget("video", ID)),
        # pages of search results and of the chart have no id: what their path says stands for it
        ("a.example/search/words/more/most", LinkTarget("search", "words")),
        ("a.example/search", None),
        ("c.example/rank/list?json=true", LinkTarget("chart", "rank/list")),
        # accounts
        (f"a.example/user/{SEC}", LinkTarget("user", SEC)),
        (f"a.example/user/x/{SEC}", None),
        (f"a.example/user/{SEC}?sec_uid=other", LinkTarget("user", SEC)),
        (f"a.example/user?sec_uid={SEC}x&sec_user_id={SEC}", LinkTarget("user", SEC + "x")),
        (f"a.example/user?modal_id=1234&sec_user_id={SEC}", LinkTarget("user", SEC)),
        # a video that lies open on the page of an account, which may be of another one
        (f"a.example/user/x?modal_id={ID}&sec_uid={SEC}", LinkTarget("video", ID, account=SEC)),
        (f"a.example/user/{SEC}?modal_id={ID}", LinkTarget("video", ID, account=SEC)),
        (f"a.example/user/self?modal_id={ID}", LinkTarget("video", ID)),
        ("a.example/user", None),
        ("a.example/user/MS4wLjABAAAAabc", None),
        ("a.example/user/MS4wLjABAAAAabcd", LinkTarget("user", "MS4wLjABAAAAabcd")),
        (f"a.example/user/MS4wLjABAAAA{'x' * 200}", LinkTarget("user", f"MS4wLjABAAAA{'x' * 200}")),
        (f"a.example/user/MS4wLjABAAAA{'x' * 201}", None),
        # the music service: its pages name what they show twice, its short links have a letter
        (f"m.example/any/share/track?track_id={ID}", LinkTarget("service_track", ID)),
        (f"m.example/any/track?track_id={ID}", None),
        (f"m.example/share/track?album_id={ID}", None),
        ("m.example/share/track?track_id=1234", None),
        (f"m.example/share/other?other_id={ID}", None),
        (f"m.example/share/playlist?playlist_id={ID}", LinkTarget("service_playlist", ID)),
        (f"m.example/share/album?album_id={ID}", LinkTarget("service_album", ID)),
        (f"m.example/share/artist?artist_id={ID}", LinkTarget("service_artist", ID)),
        (f"m.example/share/ugc_video?ugc_video_id={ID}", LinkTarget("service_video", ID)),
        (f"m.example/share/mv?mv_id={ID}", LinkTarget("service_video", ID)),
        ("m.example/", None),
        ("q.example/s/abcd", LinkTarget("short", "abcd", "https://q.example/s/abcd/")),
        ("q.example/s/abcd/x", LinkTarget("short", "abcd", "https://q.example/s/abcd/")),
        ("q.example/t/abcd", None),
        ("q.example/s/abc", None),
        ("q.example/s", None),
        # the first link of use wins; a collection only where there is none
        (f"a.example/video/{ID} a.example/music/99999", LinkTarget("video", ID)),
        (f"a.example/mix/{ID} a.example/trends?trends_id=99999", LinkTarget("trends", "99999")),
        (f"a.example/trends?trends_id={ID} a.example/mix/99999", LinkTarget("trends", ID)),
        (f"a.example/mix/{ID} a.example/user/{SEC}", LinkTarget("user", SEC)),
        ("a.example/", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_link_names_what_its_form_says(text: str, found: LinkTarget | None) -> None:
    assert find_target(text, HOSTS) == found


def test_prose_is_read_up_to_ten_thousand_characters() -> None:
    link = "a.example/music/12345"
    assert find_target(link.rjust(10_000), HOSTS) == LinkTarget("music", "12345")
    assert find_target(link.rjust(10_001), HOSTS) is None  # the id has lost its last digit
    assert find_target(link.rjust(10_017), HOSTS) is None


@pytest.mark.parametrize(
    "link",
    [
        f"a.example/mix/{ID}",
        f"a.example/article/{ID}",
        f"a.example/live/{ID}",
        "a.example/search/words",
        "c.example/rank",
        f"m.example/share/artist?artist_id={ID}",
        f"m.example/share/ugc_video?ugc_video_id={ID}",
    ],
)
def test_a_link_that_can_only_be_refused_gives_way_to_one_behind_it(link: str) -> None:
    assert find_target(f"{link} a.example/music/99999", HOSTS) == LinkTarget("music", "99999")


def test_the_first_of_links_that_can_only_be_refused_is_named() -> None:
    text = f"a.example/live/{ID} a.example/article/99999"
    assert find_target(text, HOSTS) == LinkTarget("live", ID)


def test_second_short_host_is_read_as_the_first(profile: PlatformProfile) -> None:
    target = profile.find_target("打开 https://jx.vidplat.localhost/AbC_9-z/！")
    assert target == LinkTarget("short", "AbC_9-z", "http://jx.vidplat.localhost/AbC_9-z/")


def test_collection_gives_way_to_a_link_of_more_use(profile: PlatformProfile) -> None:
    mix = f"https://share.vidplat.localhost/share/mix/{ID}/"
    assert profile.find_target(f"{mix} {SHORT}") == LinkTarget("short", "iRx_9-kP", SHORT)
    assert profile.find_target(f"{mix} and more") == LinkTarget("mix", ID)


LINKS = {
    f"https://www.vidplat.localhost/music/{ID}": LinkTarget("music", ID),
    f"https://share.vidplat.localhost/share/note/{ID}/?a=%20b": LinkTarget("video", ID),
    f"https://share.vidplat.localhost/share/music/?music_id={ID}": LinkTarget("music", ID),
    f"https://www.vidplat.localhost/jingxuan?modal_id={ID}": LinkTarget("video", ID),
    f"https://share.vidplat.localhost/share/user/1?sec_uid={SEC}": LinkTarget("user", SEC),
    SHORT: LinkTarget("short", "iRx_9-kP", SHORT),
}
ODD = st.sampled_from(
    "，。！？：；、）】》」』“”‘’…～🌊🎵👍🏽👨‍👩‍👧\u200b\u3000\ufe0f\u00a0#\"'<>()|^`{}\\\n\t"
)
# What may follow a link at once: no sign that a link could hold itself.
AFTER = st.one_of(st.just(""), st.builds(str.__add__, ODD, st.text(max_size=30)))
BEFORE = st.one_of(st.just(""), st.builds(str.__add__, st.text(max_size=30), ODD))


@given(before=BEFORE, after=AFTER, link=st.sampled_from(sorted(LINKS)))
def test_link_in_prose_gives_exactly_what_it_gives_alone(
    before: str, after: str, link: str
) -> None:
    assert SANDBOX.find_target(f"{before}{link}{after}") == LINKS[link]


@given(text=st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = SANDBOX.find_target(text)
    assert found is None or found.kind in {"music", "video", "user", "hashtag", "short"}


@given(before=st.text(max_size=40), after=st.text(max_size=40))
def test_a_link_survives_whatever_text_stands_around_it(before: str, after: str) -> None:
    text = f"{before} https://www.vidplat.localhost/music/{ID} {after}"
    assert SANDBOX.find_target(text) is not None
