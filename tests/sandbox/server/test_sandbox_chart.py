"""The chart on its hosts: issues, songs in all forms, versions, and the clock that it follows."""

from datetime import date, timedelta
from itertools import pairwise

import pytest

from sandbox.world.chart import SandboxChart, SandboxIssue
from sandbox.world.world import SandboxWorld

from .conftest import SEED, SIZE, Json, Sandbox

pytestmark = pytest.mark.full

CHART = "chart.chartsrc.localhost"
DAY_S = 86_400
CHARTED = SandboxChart(SandboxWorld(SEED, SIZE))
CALENDAR = CHARTED.calendar


def _issues(sandbox: Sandbox) -> Json:
    answer = sandbox.get("/api/v3/rank/vol?rankid=8888&ranktype=2&plat=0", host=CHART)
    found: Json = answer.json()["data"]
    return found


def _songs(sandbox: Sandbox, volid: str, page: int = 1) -> Json:
    path = f"/api/v3/rank/song?rankid=8888&pagesize=100&page={page}&volid={volid}"
    found: Json = sandbox.get(path, host=CHART).json()["data"]
    return found


def _issue_of(sandbox: Sandbox, day: str) -> SandboxIssue:
    """The newest issue on or before a day whose date guests can see."""
    issues = map(CALENDAR.at, range(len(sandbox.control_data("chart/issues")["issues"])))
    dated = [issue for issue in issues if issue.date_form != "none"]
    return max((one for one in dated if str(one.day) <= day), key=lambda one: one.day)


def test_issues_come_year_by_year_newest_first_from_2021_on(sandbox: Sandbox) -> None:
    data = _issues(sandbox)
    truth = sandbox.control_data("chart/issues")["issues"]
    listed = [str(vol["volid"]) for year in data["info"] for vol in year["vols"]]
    assert [year["year"] for year in data["info"]] == [2025, 2024, 2023, 2022, 2021]
    assert listed == [issue["volid"] for issue in reversed(truth)]
    assert str(data["rank_cid"]) == listed[0]
    assert truth[0]["date"] == "2021-01-01"


def test_some_issues_tell_their_date_in_text_only_and_some_nowhere(sandbox: Sandbox) -> None:
    vols = [vol for year in _issues(sandbox)["info"] for vol in year["vols"]]
    forms = {("voltime" in vol, "outer_text" in vol) for vol in vols}
    dated = {
        str(vol["volid"]): (vol.get("voltime") or vol.get("outer_text") or "")[:10] for vol in vols
    }
    truth = {issue["volid"]: issue for issue in sandbox.control_data("chart/issues")["issues"]}
    assert forms == {(True, True), (False, True), (False, False)}
    assert {type(vol["volid"]) for vol in vols} == {int, str}
    assert all(
        shown == (truth[volid]["date"] if truth[volid]["is_dated"] else "")
        for volid, shown in dated.items()
    )


def test_songs_say_of_which_issue_they_are_and_page_to_five_hundred(sandbox: Sandbox) -> None:
    issue = _issue_of(sandbox, "2024-06-15")
    truth = CHARTED.songs(issue.place)
    pages = [_songs(sandbox, str(issue.volid), page) for page in range(1, 7)]
    songs = [song for page in pages for song in page["info"]]
    assert [len(page["info"]) for page in pages] == [100, 100, 100, 100, 100, 0]
    assert {page["total"] for page in pages} == {500}
    assert {(str(song["rank_cid"]), song["rank_id_publish_date"][:10]) for song in songs} == {
        (str(issue.volid), str(issue.day))
    }
    assert [song["songname"] for song in songs] == [song.title for song in truth]
    assert [song["last_sort"] for song in songs] == [song.previous_rank for song in truth]
    assert songs[-1]["sort"] > 500
    assert any(not song["authors"] and song["singername"] for song in songs)
    covers = {
        (bool(s["album_sizable_cover"]), bool(s["trans_param"]["union_cover"])) for s in songs
    }
    assert covers == {(True, False), (False, True), (False, False)}


def test_songs_of_old_issues_have_a_file_name_alone(sandbox: Sandbox) -> None:
    issue = _issue_of(sandbox, "2021-03-03")
    first = CHARTED.songs(issue.place)[0]
    songs = _songs(sandbox, str(issue.volid))["info"]
    assert all({"songname", "last_sort", "authors", "rank_cid"}.isdisjoint(song) for song in songs)
    assert songs[0]["filename"] == f"{'、'.join(first.artists)} - {first.title}"


def test_all_forms_of_the_latest_issue_agree(sandbox: Sandbox) -> None:
    newest = _songs(sandbox, "")["info"][:22]
    mobile = sandbox.get("/rank/info/?rankid=8888&page=1&json=true", host="m.chartsrc.localhost")
    page = sandbox.get("/yy/rank/home/1-8888.html", host="www.chartsrc.localhost").text
    issue = sandbox.control_data("chart/issues")["issues"][-1]
    listed = mobile.json()["songs"]["list"][:22]
    assert [song["hash"] for song in listed] == [song["hash"] for song in newest]
    assert all(song["hash"] in page for song in newest)
    assert mobile.json()["info"]["rank_id_publish_date"] == issue["date"]
    assert f"{issue['date']} 更新" in page


def test_a_node_may_have_no_issue_within_ten_days(sandbox: Sandbox) -> None:
    days = [date.fromisoformat(i["date"]) for i in sandbox.control_data("chart/issues")["issues"]]
    assert max(later - day for day, later in pairwise(days)) > timedelta(days=15)


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("/api/v3/rank/vol?rankid=8888", CHART),
        ("/api/v3/rank/song?rankid=8888&volid={volid}", CHART),
        ("/robots.txt", CHART),
        ("/robots.txt", "www.vidplat.localhost"),
    ],
)
def test_sandbox_chart_answers_304_to_matching_validators(
    sandbox: Sandbox, path: str, host: str
) -> None:
    volid = sandbox.control_data("chart/issues")["issues"][5]["volid"]
    first = sandbox.get(path.format(volid=volid), host=host)
    mark, written = first.headers.get("etag"), first.headers.get("last-modified")
    sent = {"if_none_match": mark} if mark else {"if_modified_since": written or ""}
    again = sandbox.get(path.format(volid=volid), host=host, **sent)
    other = (
        {"if_none_match": '"x"'} if mark else {"if_modified_since": "Mon, 1 Jan 2001 00:00:00 GMT"}
    )
    assert (again.status_code, again.content) == (304, b"")
    assert sandbox.get(path.format(volid=volid), host=host, **other).content == first.content


def test_some_surfaces_offer_no_version_and_some_hosts_no_robots(sandbox: Sandbox) -> None:
    mobile = sandbox.get("/rank/info/?rankid=8888&json=true", host="m.chartsrc.localhost")
    assert {"etag", "last-modified"}.isdisjoint(mobile.headers)
    assert sandbox.get("/robots.txt", host="v.vidplat.localhost").status_code == 404
    assert sandbox.get("/robots.txt", host="media.vidplat.localhost").status_code == 404


def test_the_chart_follows_the_clock(sandbox: Sandbox) -> None:
    before = _issues(sandbox)
    mark = sandbox.get("/api/v3/rank/vol?rankid=8888", host=CHART).headers["etag"]
    sandbox.client.post("/_world/clock", json={"advance_s": 40 * DAY_S})
    after = _issues(sandbox)
    assert len(after["info"][0]["vols"]) > len(before["info"][0]["vols"]) + 30
    assert after["rank_cid"] > before["rank_cid"]
    assert sandbox.get("/api/v3/rank/vol?rankid=8888", host=CHART).headers["etag"] != mark
    sandbox.client.post("/_world/clock", json={"advance_s": -40 * DAY_S})
    unborn = _songs(sandbox, str(after["rank_cid"]))
    assert set(unborn) == {"timestamp"}


@pytest.mark.parametrize(
    "path", ["/api/v3/rank/vol?rankid=1", "/api/v3/rank/song?rankid=1", "/api/v3/rank/vol"]
)
def test_another_chart_is_a_timestamp_alone(sandbox: Sandbox, path: str) -> None:
    assert set(sandbox.get(path, host=CHART).json()["data"]) == {"timestamp"}


def test_a_wrong_id_is_said_in_a_text(sandbox: Sandbox) -> None:
    page = sandbox.get("/yy/rank/home/1-1.html", host="www.chartsrc.localhost")
    old = sandbox.get("/yueku/v8/rank/home/1-8888-1.html", host="old.chartsrc.localhost")
    assert page.text == old.text == "You need get the right classid!"


def test_the_comments_around_an_answer_come_when_asked_for(sandbox: Sandbox) -> None:
    answer = sandbox.get("/api/v3/rank/vol?rankid=8888&with_res_tag=1", host=CHART)
    assert answer.text.startswith("<!--KG_TAG_RES_START-->{")
    assert answer.text.endswith("}<!--KG_TAG_RES_END-->")
    assert answer.headers["content-type"].startswith("text/html")
