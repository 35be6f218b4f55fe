"""Which bodies ask for several videos."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.parameters.video_ids import APP_VIDEO_IDS, WEB_VIDEO_IDS, read_video_ids
from warehouse.records.errors import InvalidVideoIdsError

IDS = [str(7300000000000000000 + n) for n in range(60)]


def test_ids_keep_their_order_and_stand_once() -> None:
    assert read_video_ids([IDS[2], IDS[1], IDS[2]], most=3) == (IDS[2], IDS[1])


@pytest.mark.parametrize("most", [WEB_VIDEO_IDS, APP_VIDEO_IDS])
def test_the_size_is_that_of_the_list_as_sent(most: int) -> None:
    assert len(read_video_ids(IDS[:most], most=most)) == most
    with pytest.raises(InvalidVideoIdsError):
        read_video_ids([IDS[0]] * (most + 1), most=most)


@pytest.mark.parametrize(
    "document",
    [
        None, True, 7, 1.5, "7300000000000000000", {}, {"aweme_ids": IDS[:1]}, [], [[]], [None],
        [7300000000000000000], ["1234"], ["1" * 31], [""], ["７３００００"], [" 12345"],
        ["12345\n"], ["12345", True],
    ],
)  # fmt: skip
def test_invalid_video_id_list_is_refused_with_a_hint(document: object) -> None:
    with pytest.raises(InvalidVideoIdsError) as caught:
        read_video_ids(document, most=10)
    assert "1 to 10" in (caught.value.hint or "")


@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), st.lists))
def test_every_document_is_read_or_refused(document: object) -> None:
    try:
        found = read_video_ids(document, most=50)
    except InvalidVideoIdsError:
        return
    assert isinstance(document, list)
    assert set(found) == set(document)
