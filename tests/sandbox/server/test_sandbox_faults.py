"""Every fault does what it says, when it says, and nothing else."""

import httpx2 as httpx
import pytest

from .conftest import Sandbox

pytestmark = pytest.mark.full


def _info(sandbox: Sandbox, *, host: str = "share.vidplat.localhost") -> httpx.Response:
    music_id = sandbox.world.tracks[1].music_id
    return sandbox.get(f"/web/api/v2/music/info/?music_id={music_id}", host=host)


@pytest.mark.parametrize(
    ("kind", "status", "shown"),
    [
        ("empty", 200, ""),
        ("blocked", 200, "blocked"),
        ("shell", 200, "loaderData"),
        ("challenge", 200, "__ac_nonce"),
        ("captcha", 200, "验证码中间页"),
        ("403", 403, "访问受限"),
        ("500", 500, "Error"),
    ],
)
def test_a_fault_answers_once_and_is_over(
    sandbox: Sandbox, kind: str, status: int, shown: str
) -> None:
    sandbox.fault(surface="music_info", kind=kind)
    broken, healthy = _info(sandbox), _info(sandbox)
    assert broken.status_code == status
    assert shown in broken.text
    assert "videoInfoRes" not in broken.text
    assert healthy.json()["status_code"] == 0


def test_too_many_requests_come_with_a_wait(sandbox: Sandbox) -> None:
    sandbox.fault(surface="music_info", kind="429", retry_after=3)
    answer = _info(sandbox)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "3"


@pytest.mark.parametrize(
    ("kind", "target"),
    [("region", "overseas.vidplat.localhost"), ("gone", "web_video_404_link&modal_id=")],
)
def test_some_faults_send_elsewhere(sandbox: Sandbox, kind: str, target: str) -> None:
    sandbox.fault(surface="music_info", kind=kind)
    answer = _info(sandbox)
    assert answer.status_code == 302
    assert target in answer.headers["location"]


@pytest.mark.parametrize("kind", ["reset", "timeout"])
def test_a_connection_can_end_without_an_answer(sandbox: Sandbox, kind: str) -> None:
    sandbox.fault(surface="music_info", kind=kind, seconds=0.1)
    with pytest.raises(httpx.TransportError):
        _info(sandbox)
    assert _info(sandbox).status_code == 200


def test_a_client_that_gives_up_first_leaves_nothing_in_flight(sandbox: Sandbox) -> None:
    sandbox.fault(surface="music_info", kind="timeout", seconds=20)
    with pytest.raises(httpx.TimeoutException):
        httpx.get(
            f"http://127.0.0.1:{sandbox.port}/web/api/v2/music/info/", timeout=0.2, verify=False
        )
    assert _info(sandbox).status_code == 200


def test_substitution_answers_for_another_id(sandbox: Sandbox) -> None:
    work = sandbox.world.works.row(40)
    sec_uid = sandbox.world.sec_uid(2)
    sandbox.fault(surface="*", kind="substitution", times=3)
    music = _info(sandbox).json()["music_info"]["mid"]
    user = sandbox.get(f"/web/api/v2/user/info/?sec_uid={sec_uid}").json()["user_info"]["sec_uid"]
    page = sandbox.get(f"/share/video/{work.aweme_id}/").text
    assert music != sandbox.world.tracks[1].music_id
    assert sandbox.world.sound_of(music) is not None
    assert user == sandbox.world.sec_uid(3)
    assert work.aweme_id not in page


def test_structure_has_other_keys(sandbox: Sandbox) -> None:
    sandbox.fault(surface="music_info", kind="structure")
    answer = _info(sandbox).json()
    assert "music_info" not in answer
    assert "sound" in answer


def test_a_slow_body_is_complete_in_the_end(sandbox: Sandbox) -> None:
    whole = _info(sandbox).content
    sandbox.fault(surface="music_info", kind="slow", seconds=0.2)
    assert _info(sandbox).content == whole


def test_a_huge_body_is_longer_than_anybody_wants(sandbox: Sandbox) -> None:
    sandbox.fault(surface="music_info", kind="huge")
    assert len(_info(sandbox).content) > 50_000_000


def test_faults_wait_for_the_nth_request_and_last_as_long_as_told(sandbox: Sandbox) -> None:
    sandbox.fault(surface="music_info", kind="500", nth=2, times=2)
    assert [_info(sandbox).status_code for _ in range(5)] == [200, 500, 500, 200, 200]


def test_a_fault_without_end_ends_when_cleared(sandbox: Sandbox) -> None:
    sandbox.fault(surface="music_info", kind="403", times=0)
    broken = [_info(sandbox).status_code for _ in range(3)]
    sandbox.client.request("DELETE", "/_world/faults")
    assert broken == [403, 403, 403]
    assert _info(sandbox).status_code == 200


def test_faults_keep_to_their_surface_host_and_entity(sandbox: Sandbox) -> None:
    music_id = sandbox.world.tracks[1].music_id
    sandbox.fault(surface="music_list", kind="500", times=0)
    sandbox.fault(surface="music_info", kind="500", host="www.vidplat.localhost", times=0)
    sandbox.fault(surface="music_page", kind="500", entity=music_id, times=0)
    other = sandbox.world.tracks[2].music_id
    assert _info(sandbox).status_code == 200
    assert _info(sandbox, host="www.vidplat.localhost").status_code == 500
    assert sandbox.get(f"/share/music/{music_id}/").status_code == 500
    assert sandbox.get(f"/share/music/{other}/").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"[]", b'{"surface": "x"}', b'{"surface": "x", "kind": "flood"}',
        b'{"surface": "x", "kind": "500", "nth": 0}',
        b'{"surface": "x", "kind": "500", "nth": "a"}',
    ],
)  # fmt: skip
def test_a_fault_that_makes_no_sense_is_refused(sandbox: Sandbox, body: bytes) -> None:
    answer = sandbox.client.post("/_world/faults", content=body)
    assert answer.status_code == 400
    assert _info(sandbox).status_code == 200


def test_the_worlds_own_door_never_breaks_and_is_never_logged(sandbox: Sandbox) -> None:
    sandbox.fault(surface="*", kind="500", times=0)
    assert sandbox.get("/_world/cpu").status_code == 200
    assert sandbox.get("/_world/access-log/summary").json()["requests"] == 0
